/*
 * Stale return addresses: words that lead into a library which another thread loads and unloads. The
 * loader unmaps it before it forgets it, so its word alone is wrong in one capture of twenty here.
 * What is left is a race of nanoseconds (docs/LIMITS.md), so this test counts, and says how many.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/test.h"

enum { WORDS = 512, CAPTURES = 100000, FRAMES = 20 };

typedef int call_back_fn(int (*function)(void));

static const char *path;
static atomic_bool stop;
static _Atomic uint64_t stale;
static volatile uint64_t honest_pc;

static sigjmp_buf back;
static volatile unsigned faults, in_library;

static void on_fault(int number)
{
    (void)number;
    faults++;
    siglongjmp(back, 1);
}

static int note_library(void)
{
    atomic_store(&stale, (uintptr_t)__builtin_return_address(0));
    return 0;
}

static void *come_and_go(void *argument)
{
    while (!atomic_load(&stop)) {
        void *library = dlopen(path, RTLD_NOW);
        call_back_fn *call_back = NULL;

        *(void **)&call_back = dlsym(library, "call_back");
        call_back(note_library);
        dlclose(library);
    }
    return argument;
}

NOINLINE static void note_caller(void)
{
    honest_pc = (uintptr_t)__builtin_return_address(0);
}

NOINLINE static void be_honest(void)
{
    volatile char space[64];

    space[0] = 1;
    note_caller();
    space[1] = 1;
    KEEP_WHOLE(space);
}

/* From an honest pc over words that are all stale. */
static void capture(uint64_t *words, uint64_t *memo, size_t memo_size)
{
    struct sframe_backtrace_options options = {
        .size = sizeof options, .max_frames = FRAMES, .memo = memo, .memo_size = memo_size
    };
    void *frames[FRAMES];
    ucontext_t uc;

    for (unsigned i = 0; i < WORDS; i++)
        words[i] = atomic_load(&stale);
    memset(&uc, 0, sizeof uc);
    getcontext(&uc);
    machine_set_ucontext(&uc, honest_pc, (uintptr_t)words, (uintptr_t)(words + WORDS / 2));
    options.context = &uc;
    if (sigsetjmp(back, 1) == 0)
        in_library += sframe_backtrace_addresses(frames, FRAMES, &options, NULL) > 2;
    else
        memset(memo, 0, memo_size);
}

static void run(const char *library, bool with_memo)
{
    static uint64_t words[WORDS];
    static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) / 8];
    struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER }, old[2];
    pthread_t loader;

    path = library;
    atomic_store(&stop, false);
    faults = in_library = 0;
    be_honest();
    sigaction(SIGSEGV, &action, &old[0]);
    sigaction(SIGBUS, &action, &old[1]);
    cr_assert(eq(int, pthread_create(&loader, NULL, come_and_go, NULL), 0));
    while (atomic_load(&stale) == 0)
        sched_yield();
    for (unsigned i = 0; i < CAPTURES; i++)
        capture(words, memo, with_memo ? sizeof memo : 0);
    atomic_store(&stop, true);
    pthread_join(loader, NULL);
    sigaction(SIGSEGV, &old[0], NULL);
    sigaction(SIGBUS, &old[1], NULL);
    fprintf(stderr, "stale: %s, memo %d: %u of %u captures met with a fault, %u walked into it\n",
            strrchr(library, '/') + 1, with_memo, faults, (unsigned)CAPTURES, in_library);
    cr_expect(lt(u32, CAPTURES / 20, in_library), "most find it loaded");
    cr_expect(lt(u32, faults, CAPTURES / 50), "one in twenty is what it was");
}

Test(stale, words_of_a_library_that_goes_away_cost_no_fault)
{
    for (int with_memo = 0; with_memo < 2; with_memo++) {
        run(SFB_TEST_LIBS "/libframes-64.so", with_memo);
        run(SFB_TEST_LIBS "/libframes-bare.so", with_memo);
    }
}
