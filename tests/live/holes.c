/*
 * Stacks with holes: what once was one stretch of memory, or looks like it, has a page in the middle
 * that cannot be read any more. A damaged stack leads there; the walk has to end, truncated.
 */
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/test.h"
#include "unwind/process/known_stack.h"

enum { PAGE = 4096, FRAMES = 64 };

#define HERE ((uintptr_t)__builtin_frame_address(0))

static volatile uint64_t pc_with_fp;
static volatile size_t space_size =
    100; /* what is not known when it is compiled takes a frame pointer */

NOINLINE static void note_caller(void)
{
    pc_with_fp = (uintptr_t)__builtin_return_address(0);
}

/* Its CFA is counted from fp. */
NOINLINE static void find_pc_with_fp(void)
{
    volatile char *space = alloca(space_size);

    space[0] = 1;
    note_caller();
    space[0] = 2;
}

/* A walk from sp, in a function whose frame is where fp says. */
NOINLINE static ssize_t walk_from(uint64_t sp, uint64_t fp, uint32_t flags, enum sfb_status *end)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .flags = flags };
    struct sframe_backtrace_info info = { .size = sizeof info };
    void *frames[FRAMES];
    ssize_t count;
    ucontext_t uc;

    memset(&uc, 0, sizeof uc);
    getcontext(&uc);
    machine_set_ucontext(&uc, pc_with_fp, sp, fp);
    options.context = &uc;
    count = sframe_backtrace_addresses(frames, FRAMES, &options, &info);
    *end = info.end;
    return count;
}

/*
 * Every word of a hole, and some beside it, as the frame pointer.
 *
 * grows: to ask for a page there may make the kernel grow the main stack down to it, full of zeros
 */
static void walk_into(uint64_t sp, uint64_t hole, uint64_t size, bool grows)
{
    find_pc_with_fp();
    for (int doubt = 0; doubt < 2; doubt++) {
        for (uint64_t fp = hole - 256; fp < hole + size + 256; fp += 8) {
            enum sfb_status end = SFB_OK;
            ssize_t count = walk_from(sp, fp, doubt ? SFRAME_BACKTRACE_DOUBT : 0, &end);

            cr_assert(le(int, 1, (int)count));
            /* Where the frame's words are beside fp, the machine says: well inside they are there. */
            if (fp >= hole + 64 && fp < hole + size - 64)
                cr_assert(end == SFB_UNREADABLE || (grows && end == SFB_ZERO_RA), "fp %#lx: %s",
                          (long)fp, sfb_status_str(end));
        }
    }
}

NOINLINE static ssize_t capture(void)
{
    void *frames[FRAMES];
    int count = sframe_backtrace(frames, FRAMES);

    KEEP_WHOLE(frames);
    return count;
}

/* The kernel puts a mapping where it is asked to, also so far below the main stack. */
Test(holes, between_a_fiber_and_the_main_stack_above_it)
{
    enum { FIBER = 16 * PAGE, GAP = 2 << 20 };
    uint8_t *hint = (uint8_t *)((HERE & ~(uintptr_t)(PAGE - 1)) - (4u << 20));
    uint8_t *fiber =
        mmap(hint, FIBER + GAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t sp = (uintptr_t)fiber + FIBER - 512;

    cr_assert(fiber != MAP_FAILED);
    if (fiber != hint)
        cr_skip_test("the kernel put the fiber elsewhere");
    cr_assert(eq(int, munmap(fiber + FIBER, GAP), 0));
    cr_assert(capture() > 3);
    walk_into(sp, (uintptr_t)fiber + FIBER, PAGE, false);
    walk_into(sp, (uintptr_t)fiber + FIBER + (1u << 20), PAGE, true);
    cr_expect(not(sfb_known_stack_has(sp)), "it is not the thread's own");
}

NOINLINE static ssize_t capture_deeper(int depth)
{
    volatile char space[3000];
    ssize_t count;

    KEEP_WHOLE(space);
    count = depth > 0 ? capture_deeper(depth - 1) : capture();
    space[0] = 1;
    return count;
}

/* A program may keep stacks of coroutines in an array of main(), with guard pages between them. */
NOINLINE static void make_a_hole_in(uint8_t *array, size_t size)
{
    uint8_t *hole = (uint8_t *)(((uintptr_t)array + size / 2) & ~(uintptr_t)(PAGE - 1));

    /* From further in, several times: what is known of the stack now lies on both sides of it. */
    for (int i = 0; i < 20; i++)
        cr_assert(capture_deeper(4) > 3);
    cr_assert(sfb_known_stack_has(HERE));
    cr_assert(eq(int, mprotect(hole, PAGE, PROT_NONE), 0));
    walk_into((uintptr_t)hole - 1024, (uintptr_t)hole, PAGE, false);
    cr_assert(eq(int, mprotect(hole, PAGE, PROT_READ | PROT_WRITE), 0));
}

Test(holes, in_an_array_on_the_main_stack)
{
    uint8_t array[64 * PAGE];

    KEEP_WHOLE(array);
    make_a_hole_in(array, sizeof array);
}

/* --- An arena: a coroutine's stack, another one that goes, the thread's, without a gap ----------- */

enum { OWN = 64 * PAGE, NEIGHBOUR = 8 * PAGE, COROUTINE = 16 * PAGE };

struct arena {
    uint8_t *memory;
    bool unmap; /* else it is protected */
    ucontext_t outside, inside;
};

static struct arena arena;

/* On the coroutine, so often that whatever can be learnt of it is. */
static void on_coroutine(void)
{
    for (int i = 0; i < 40; i++)
        cr_assert(capture() >= 2);
}

static void *in_the_arena(void *argument)
{
    uint8_t *neighbour = arena.memory + COROUTINE;

    cr_assert(capture_deeper(2) > 3);
    getcontext(&arena.inside);
    arena.inside.uc_stack.ss_sp = arena.memory;
    arena.inside.uc_stack.ss_size = COROUTINE;
    arena.inside.uc_link = &arena.outside;
    makecontext(&arena.inside, on_coroutine, 0);
    swapcontext(&arena.outside, &arena.inside);
    if (arena.unmap)
        cr_assert(eq(int, munmap(neighbour, NEIGHBOUR), 0));
    else
        cr_assert(eq(int, mprotect(neighbour, NEIGHBOUR, PROT_NONE), 0));
    walk_into((uintptr_t)neighbour - 1024, (uintptr_t)neighbour, NEIGHBOUR, false);
    cr_expect(sfb_known_stack_has(HERE), "its own stack is known all the same");
    return argument;
}

static void run_in_an_arena(bool unmap)
{
    pthread_attr_t attributes;
    pthread_t thread;

    arena.unmap = unmap;
    arena.memory = mmap(NULL, COROUTINE + NEIGHBOUR + OWN, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(arena.memory != MAP_FAILED);
    pthread_attr_init(&attributes);
    cr_assert(
        eq(int, pthread_attr_setstack(&attributes, arena.memory + COROUTINE + NEIGHBOUR, OWN), 0));
    cr_assert(eq(int, pthread_create(&thread, &attributes, in_the_arena, NULL), 0));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

Test(holes, where_a_neighbour_in_an_arena_was_unmapped)
{
    run_in_an_arena(true);
}

Test(holes, where_a_neighbour_in_an_arena_was_protected)
{
    run_in_an_arena(false);
}
