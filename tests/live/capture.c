/*
 * Captures on this program's own stacks, whose code has .sframe and whose libc has none, compared
 * frame by frame with libunwind as everybody links it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "sfb/walk.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/machine/arch.h"

/* Keeps calls from becoming jumps. */
static volatile int sink;

static struct trace ours, theirs;
static struct sframe_backtrace_info info;

/* Both walks from here; the two calls differ in their first address only. */
#define CAPTURE_HERE(title)                                                                        \
    do {                                                                                           \
        uint8_t buffer[4096];                                                                      \
        ssize_t size;                                                                              \
        info.size = sizeof info;                                                                   \
        size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);                           \
        trace_decode(&ours, buffer, size);                                                         \
        linked_libunwind_walk(&theirs, NULL);                                                      \
        check(title, 1);                                                                           \
    } while (0)

static void check(const char *title, size_t skip)
{
    int same = trace_differs(&ours, skip, &theirs, skip) == SIZE_MAX && ours.end == theirs.end;

    if (!same)
        trace_print(title, &ours, &theirs);
    cr_expect(same, "%s", title);
    cr_expect(eq(int, ours.error, SFB_OK), "%s", title);
    cr_expect(eq(int, info.end, SFB_END), "%s", title);
    cr_expect(eq(u32, info.frames, (uint32_t)ours.count), "%s", title);
    cr_expect(lt(u32, 0, info.by_source[SFB_SOURCE_SFRAME]), "%s: by .sframe", title);
}

NOINLINE static int plain(int depth)
{
    if (depth == 0)
        CAPTURE_HERE("plain");
    else
        plain(depth - 1);
    return sink++;
}

Test(capture, own_frames)
{
    plain(0);
    /* The first frame is exactly the caller. */
    cr_expect(lt(u64, (uintptr_t)plain, ours.address[0]));
    cr_expect(lt(u64, ours.address[0], (uintptr_t)plain + 4096));
    cr_expect(eq(int, ours.kind[0], SFB_FRAME_RA));
    plain(300);
    cr_expect(lt(sz, 300, ours.count));
}

NOINLINE static int big_frame(int n)
{
    volatile char space[70000];

    space[n] = 1;
    CAPTURE_HERE("a frame of many pages");
    return space[n];
}

NOINLINE static int variable_frame(size_t n)
{
    volatile char *space = __builtin_alloca(n);

    space[n - 1] = 1;
    CAPTURE_HERE("a frame of variable size");
    return space[n - 1];
}

NOINLINE static int aligned_frame(int n)
{
    volatile char space[256] __attribute__((aligned(128)));

    space[n] = 1;
    CAPTURE_HERE("an over-aligned frame");
    return space[n];
}

Test(capture, unusual_frames)
{
    sink += big_frame(12345);
    sink += variable_frame((size_t)(sink & 7) + 1000);
    sink += aligned_frame(5);
}

static int compare(const void *a, const void *b)
{
    static int once;

    if (once++ == 0)
        CAPTURE_HERE("comparator called by qsort");
    return *(const int *)a - *(const int *)b;
}

Test(capture, crosses_libc_and_comes_back_to_sframe)
{
    int v[] = { 3, 1, 2, 5, 4 };

    qsort(v, 5, sizeof *v, compare);
    cr_expect(lt(u32, 1, info.by_source[SFB_SOURCE_EH_FRAME]));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_LIBUNWIND], 0));
}

/* --- signals ---------------------------------------------------------------------------------- */

static void from_context(const char *title, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    uint8_t buffer[4096];
    ssize_t size;

    info.size = sizeof info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    trace_decode(&ours, buffer, size);
    linked_libunwind_walk(&theirs, ucontext);
    check(title, 0);
    cr_expect(eq(int, ours.kind[0], SFB_FRAME_PC), "%s", title);
}

static size_t pc_frames(void)
{
    size_t n = 0;

    for (size_t i = 0; i < ours.count; i++)
        n += ours.kind[i] == SFB_FRAME_PC;
    return n;
}

static void on_signal(int number, siginfo_t *si, void *ucontext)
{
    (void)si;
    from_context("from a handler's context", ucontext);
    CAPTURE_HERE("from inside of a handler");
    cr_expect(eq(sz, pc_frames(), number == SIGUSR2 ? 2 : 1), "one pc for each signal");
    if (number == SIGUSR1)
        raise(SIGUSR2);
}

NOINLINE static int raises(int number)
{
    raise(number);
    return sink++;
}

static void install(int number, int flags)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

    sigaction(number, &action, NULL);
}

Test(capture, signal_frames_nested)
{
    install(SIGUSR1, 0);
    install(SIGUSR2, 0);
    raises(SIGUSR1);
}

static void use_alternate_stack(void)
{
    static char space[256 * 1024];
    stack_t alternate = { .ss_sp = space, .ss_size = sizeof space };

    sigaltstack(&alternate, NULL);
}

Test(capture, signal_frames_across_stacks)
{
    use_alternate_stack();
    install(SIGUSR1, SA_ONSTACK);
    install(SIGUSR2, SA_ONSTACK);
    raises(SIGUSR1);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *in_thread(void *arg)
{
    (void)arg;
    plain(40);
    raises(SIGUSR1);
    return NULL;
}

Test(capture, threads_to_their_start)
{
    pthread_t thread;

    install(SIGUSR1, 0);
    install(SIGUSR2, 0);
    cr_assert(eq(int, pthread_create(&thread, NULL, in_thread, NULL), 0));
    pthread_join(thread, NULL);
}

/* --- other stacks ----------------------------------------------------------------------------- */

static ucontext_t main_context, fiber_context;

/*
 * makecontext() puts the address of __start_context on the fiber's stack as if it had been called
 * from the byte before, which no table covers, and its own table does not say that it is outermost.
 * All frames are found; that they are all, nobody can know: libunwind says so because the frame
 * pointer happens to be 0.
 */
static void fiber(void)
{
    uint8_t buffer[512];
    ssize_t size;

    info.size = sizeof info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);
    trace_decode(&ours, buffer, size);
    linked_libunwind_walk(&theirs, NULL);
    cr_expect(eq(sz, theirs.count, SFB_ARCH_LR ? 3 : 2), "on AArch64 it says the last frame twice");
    theirs.count = 2;
    cr_expect(eq(sz, trace_differs(&ours, 1, &theirs, 1), SIZE_MAX));
    cr_expect(eq(sz, ours.count, 2));
    cr_expect(eq(int, info.end, SFB_NO_CFI));
    cr_expect(not(ours.end));
    swapcontext(&fiber_context, &main_context);
}

Test(capture, fibers_stop_at_their_start)
{
    static char space[512 * 1024];

    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = space;
    fiber_context.uc_stack.ss_size = sizeof space;
    fiber_context.uc_link = &main_context;
    makecontext(&fiber_context, fiber, 0);
    swapcontext(&main_context, &fiber_context);
}

/* --- calls in libraries' constructors --------------------------------------------------------- */

static struct trace constructed;
static enum sfb_status constructed_end;

__attribute__((constructor)) static void early(void)
{
    uint8_t buffer[1024];
    ssize_t size;

    info.size = sizeof info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);
    trace_decode(&constructed, buffer, size);
    constructed_end = info.end;
}

Test(capture, constructors_end_where_the_process_began)
{
    cr_expect(eq(int, constructed_end, SFB_END));
    cr_expect(constructed.end);
}

/* --- the cache of rules against the tables themselves ------------------------------------------
 */

NOINLINE static int both_ways(int depth)
{
    const struct sfb_walker_options uncached = { .size = sizeof uncached,
                                                 .flags = SFB_WALKER_NO_CACHE };
    struct sfb_context here;
    struct sfb_walker cached, reference;
    struct sfb_frame a, b;
    enum sfb_status status = SFB_OK;

    if (depth > 0)
        return both_ways(depth - 1) + 1;
    sfb_context_capture(&here);
    for (int round = 0; round < 3; round++) {
        sfb_walker_init(&cached, &here, SFB_FRAME_RA, NULL);
        sfb_walker_init(&reference, &here, SFB_FRAME_RA, &uncached);
        do {
            status = sfb_walker_next(&reference, &a);
            cr_assert(eq(int, sfb_walker_next(&cached, &b), status));
            cr_assert(status != SFB_OK ||
                      (a.address == b.address && a.sp == b.sp && a.kind == b.kind &&
                       a.source == b.source &&
                       sfb_walker_regs(&cached)->fp == sfb_walker_regs(&reference)->fp));
        } while (status == SFB_OK);
        cr_expect(eq(int, status, SFB_END));
    }
    return 0;
}

Test(capture, cache_changes_nothing)
{
    for (int depth = 0; depth < 50; depth++)
        both_ways(depth);
}

/* --- addresses -------------------------------------------------------------------------------- */

NOINLINE static int addresses(int depth)
{
    void *buffer[64];
    int n;

    if (depth > 0)
        return addresses(depth - 1) + 1;
    memset(buffer, 0xee, sizeof buffer);
    errno = 4711;
    n = sframe_backtrace(buffer, 64);
    cr_expect(eq(int, errno, 4711));
    linked_libunwind_walk(&theirs, NULL);
    cr_assert(eq(sz, (size_t)n, theirs.count));
    for (int i = 1; i < n; i++)
        cr_expect(eq(u64, (uintptr_t)buffer[i], theirs.address[i]), "frame %d", i);
    cr_expect(eq(u64, (uintptr_t)buffer[n], 0xeeeeeeeeeeeeeeee), "nothing written behind");

    cr_expect(eq(int, sframe_backtrace(buffer, 3), 3));
    cr_expect(eq(u64, (uintptr_t)buffer[2], theirs.address[2]));
    cr_expect(eq(int, sframe_backtrace(buffer, 0), 0));
    cr_expect(eq(int, sframe_backtrace(buffer, -1), 0));
    cr_expect(eq(int, sframe_backtrace(NULL, 5), 0));
    return n;
}

Test(capture, addresses_as_backtrace_gives_them)
{
    addresses(20);
}
