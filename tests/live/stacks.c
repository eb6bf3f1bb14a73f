/* What is known of the stack that a walk runs on: enough to spare probes, never more than is there.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "support/compiler.h"
#include "support/test.h"
#include "support/ways.h"
#include "unwind/process/known_stack.h"

static struct trace ours, theirs;

#define HERE ((uintptr_t)__builtin_frame_address(0))

/* The mapping that this function's frame is in, as the kernel has it. */
static void bounds_of_this_stack(uintptr_t *start, uintptr_t *end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to;
    char line[512];

    cr_assert(maps != NULL);
    *start = *end = 0;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= HERE && HERE < to) {
            *start = from;
            *end = to;
        }
    fclose(maps);
}

static void check_walk(void)
{
    const char *way = ways_differ(NULL, &ours, &theirs);

    if (way)
        trace_print(way, &ours, &theirs);
    cr_assert(way == NULL);
}

NOINLINE static void check_bounds(void)
{
    uintptr_t start, end;

    check_walk();
    bounds_of_this_stack(&start, &end);
    cr_assert(sfb_known_stack.hi > HERE);
    cr_assert(sfb_known_stack.hi <= end, "not beyond its end");
    cr_assert(sfb_known_stack.lo >= start, "not beyond its guard page");
}

Test(stacks, of_the_main_thread_is_known)
{
    check_bounds();
    cr_expect(sfb_known_stack_has(HERE));
}

NOINLINE static void deep(unsigned depth)
{
    volatile char space[1000];

    KEEP_WHOLE(space);
    if (depth > 0)
        deep(depth - 1);
    else
        check_bounds();
    space[0] = (char)depth;
}

/* 200 KiB deep: a walk looks at some pages of it, and many walks at all. */
static void *in_a_thread(void *argument)
{
    unsigned *walks = argument;

    check_bounds();
    for (*walks = 1; *walks < 100; ++*walks) {
        uint64_t before = sfb_known_stack.lo;

        deep(200);
        cr_assert(sfb_known_stack.lo <= before);
        if (before == sfb_known_stack.lo)
            break;
    }
    cr_expect(sfb_known_stack_has(HERE - (uintptr_t)200 * 1000), "all of it in the end");
    return NULL;
}

Test(stacks, of_a_thread_become_known)
{
    unsigned walks = 0;
    pthread_t thread;

    cr_assert(eq(int, pthread_create(&thread, NULL, in_a_thread, &walks), 0));
    pthread_join(thread, NULL);
    fprintf(stderr, "stacks: 200 KiB of a thread's stack were known after %u rounds of walks\n",
            walks);
    cr_expect(lt(u32, 1, walks), "a walk does not probe all of a deep stack");
    cr_expect(lt(u32, walks, 30));
}

/* --- Stacks that are not the thread's own --------------------------------------------------------
 */

enum { FIBER_STACK = 256 << 10 };

static ucontext_t outside, fiber;
static uint8_t *fiber_stack;
static bool fiber_known;
static ssize_t lent_count, plain_count;
static void *lent[64], *plain[64];

NOINLINE static ssize_t walk_lent(const void *stack, size_t size, void **out)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .stack = stack,
                                                .stack_size = size };

    return sframe_backtrace_addresses(out, 64, &options, NULL);
}

static void on_fiber(void)
{
    check_walk();
    fiber_known = sfb_known_stack_has(HERE);
    for (volatile int i = 0; i < 2; i++) {
        if (i == 0)
            lent_count = walk_lent(fiber_stack, FIBER_STACK, lent);
        else
            plain_count = walk_lent(NULL, 0, plain);
    }
}

static void run_fiber(void)
{
    fiber_stack =
        mmap(NULL, FIBER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(fiber_stack != MAP_FAILED);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = fiber_stack;
    fiber.uc_stack.ss_size = FIBER_STACK;
    fiber.uc_link = &outside;
    makecontext(&fiber, on_fiber, 0);
    swapcontext(&outside, &fiber);
    munmap(fiber_stack, FIBER_STACK);
}

static void *run_fiber_in_a_thread(void *argument)
{
    check_walk();
    run_fiber();
    return argument;
}

/* A fiber's stack may go away while its thread stays, so it is probed each time, or lent. */
Test(stacks, of_fibers_are_not_believed_to_be_the_threads)
{
    pthread_t thread;

    run_fiber();
    cr_expect(not(fiber_known), "of the main thread");
    cr_expect(lt(int, 1, (int)lent_count));
    cr_expect(eq(int, (int)lent_count, (int)plain_count));
    cr_expect(eq(int, memcmp(lent + 2, plain + 2, (size_t)(lent_count - 2) * sizeof *lent), 0));

    cr_assert(eq(int, pthread_create(&thread, NULL, run_fiber_in_a_thread, NULL), 0));
    pthread_join(thread, NULL);
    cr_expect(not(fiber_known), "of another thread");
}

enum { MANY_WALKS = 4000 };

static unsigned trails;

static void walk_often(void)
{
    for (unsigned i = 0; i < MANY_WALKS; i++) {
        const uint32_t before = sfb_known_stack.rest;

        plain_count = sframe_backtrace(plain, 8);
        trails += sfb_known_stack.rest > before;
    }
}

/* A part of the thread's stack that control switches to leads nowhere: to look where it leads is tried less and less. */
NOINLINE static void run_fiber_on_this_stack(void)
{
    volatile char space[FIBER_STACK];

    getcontext(&fiber);
    fiber.uc_stack.ss_sp = (void *)(uintptr_t)space;
    fiber.uc_stack.ss_size = sizeof space / 2; /* below what walks from here have learnt */
    fiber.uc_link = &outside;
    makecontext(&fiber, walk_often, 0);
    swapcontext(&outside, &fiber);
    KEEP_WHOLE(space);
}

Test(stacks, that_lead_nowhere_are_followed_less_and_less)
{
    check_walk();
    trails = 0;
    run_fiber_on_this_stack();
    cr_expect(lt(int, 1, (int)plain_count));
    cr_expect(lt(u32, 0, trails), "the test means something");
    cr_expect(lt(u32, trails, 10), "%u", trails);
    /* And found again where there is something to find. */
    cr_expect(lt(u32, 0, sfb_known_stack.lost));
    for (unsigned i = 0; i < MANY_WALKS && sfb_known_stack.lost > 0; i++)
        deep(300);
    cr_expect(eq(u32, sfb_known_stack.lost, 0));
}

/* What is lent counts only where the walk begins in it, and not beyond its end. */
Test(stacks, lent_for_another_place_are_not_read)
{
    static uint64_t elsewhere[64];
    void *addresses[64], *lent_elsewhere[64];
    ssize_t counts[2];

    for (volatile int i = 0; i < 2; i++)
        counts[i] = i ? walk_lent(elsewhere, sizeof elsewhere, lent_elsewhere)
                      : walk_lent(NULL, 0, addresses);
    cr_expect(lt(int, 3, (int)counts[0]));
    cr_expect(eq(int, (int)counts[0], (int)counts[1]));
    /* Odd bounds, and too few bytes for anything. */
    for (size_t size = 1; size < 64; size++)
        cr_assert(walk_lent((const void *)(HERE - 3), size, addresses) > 3);
}
