/*
 * docs/SIGNALS.md says how much stack each public function takes: no more than that, and not much less.
 *
 * Each is run on a painted stack of its own, in a handler over a stack that is deep, as the first
 * thing that a process does with the library.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "contract/situation.h"
#include "contract/thunks.h"
#include "support/compiler.h"
#include "support/contract_table.h"
#include "support/painted.h"
#include "support/test.h"
#include "unwind/machine/arch.h"

static struct contract_table table;
static struct thunk_room room;
static uint8_t painted[PAINTED_SIZE] __attribute__((aligned(64)));
static ucontext_t outside, inside;
static const struct thunk *thunk; /* that is run now */
static thunk_fn *volatile entered;
static size_t *used; /* what a child found; shared with it */

static void do_nothing(struct thunk_room *r)
{
    (void)r;
}

static void enter(void)
{
    entered(&room);
}

static size_t used_by(thunk_fn *fn)
{
    entered = fn;
    paint(painted); /* before its first words are put there */
    getcontext(&inside);
    inside.uc_stack.ss_sp = painted;
    inside.uc_stack.ss_size = sizeof painted;
    inside.uc_link = &outside;
    makecontext(&inside, enter, 0);
    swapcontext(&outside, &inside);
    return painted_used(painted);
}

static void measure(ucontext_t *ucontext)
{
    size_t net;

    clear_room(&room, ucontext, 1);
    if (thunk->prepare)
        thunk->prepare(&room);
    net = used_by(do_nothing);
    *used = used_by(thunk->run) - net;
    _exit(0);
}

static size_t measured(const struct thunk *t, enum situation situation)
{
    int status = 0;
    pid_t child;

    thunk = t;
    fflush(NULL);
    child = fork();
    cr_assert(ge(int, child, 0));
    if (child == 0) {
        prepare_situation(situation);
        in_handler(situation, false, measure);
        _exit(2);
    }
    waitpid(child, &status, 0);
    cr_assert(eq(int, status, 0), "%s, situation %d", t->function, (int)situation);
    return *used;
}

/* The figures are those of the release build, by gcc for x86-64. Others are to be near. */
#if defined(NDEBUG) && !defined(__clang__)
enum { EXACT = !SFB_ARCH_LR };
#else
enum { EXACT = false };
#endif

static size_t limit(size_t stated)
{
    return EXACT ? stated : stated + 128;
}

static size_t most[CONTRACT_ROWS];
static size_t thunk_count;

static void look_at(const struct thunk *t, void *arg)
{
    const struct contract_row *row = contract_row_of(&table, t->function);
    size_t taken[SITUATIONS], all = 0;

    (void)arg;
    cr_assert(row != NULL, "%s", t->function);
    thunk_count++;
    for (unsigned i = 0; i < SITUATIONS; i++) {
        taken[i] = measured(t, (enum situation)i);
        if (all < taken[i])
            all = taken[i];
    }
    fprintf(stderr, "contract_stack: %-42s %5zu %5zu %5zu, stated %5zu\n", t->function,
            taken[IN_SFRAME], taken[IN_EH_FRAME], taken[IN_LOADER], row->stack);
    cr_expect(le(sz, all, limit(row->stack)), "%s", t->function);
    if (most[row - table.row] < all)
        most[row - table.row] = all;
}

Test(contract_stack, is_what_the_table_says)
{
    const char *wrong = contract_table_read(&table, SFB_SOURCE_DIR "/docs/SIGNALS.md");
    size_t function_count = 0;

    cr_assert(wrong == NULL, "%s", wrong);
    if (sanitized())
        cr_skip("sanitizers make frames larger");
    used = mmap(NULL, sizeof *used, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(used != MAP_FAILED);
    cr_assert(find_tables());
    for_each_thunk(look_at, NULL);
    for (size_t r = 0; r < table.row_count; r++)
        function_count += table.row[r].function_count;
    cr_expect(eq(sz, thunk_count, function_count), "every function of the table has a thunk");
    if (!EXACT)
        fprintf(stderr, "skipped: live.contract_stack: that the table's figures are not far too "
                        "large: they are those of the release build for x86-64\n");
    for (size_t r = 0; EXACT && r < table.row_count; r++)
        if (table.row[r].function_count > 0)
            cr_expect(le(sz, table.row[r].stack, most[r] + most[r] * 3 / 10 + 128),
                      "far more than is used: the row of %s", table.row[r].function[0]);
}
