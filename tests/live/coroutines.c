/*
 * Walks over coroutines, imitated in C: a frame whose first word is the address of its resume function. (What gcc and
 * clang make of real ones, examples/coroutine.cpp shows.)
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/test.h"
#include "support/trace.h"

struct coroutine {
    void (*resume)(struct coroutine *self);
    void (*destroy)(struct coroutine *self);
    struct coroutine *awaited_by;
};

enum { FRAMES = 64, BUFFER = 4096, MANY = 4000 };

static struct sframe_backtrace_options options;
static struct sframe_backtrace_info info;
static uint8_t buffer[BUFFER];
static void *addresses[FRAMES];
static ssize_t cbf_size, count;
static struct trace trace;
static unsigned asked;
static volatile int sink;

static const void *awaiting(void *user, const void *coroutine)
{
    cr_assert(eq(ptr, user, &asked));
    asked++;
    return ((const struct coroutine *)coroutine)->awaited_by;
}

NOINLINE static void capture(void)
{
    errno = ENOTTY;
    cbf_size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    if (options.outermost == 0)
        count = sframe_backtrace_addresses(addresses, FRAMES, &options, NULL);
    cr_expect(eq(int, errno, ENOTTY));
    sink++;
}

/* The resume functions: of the coroutine that runs, and of three that await. */
NOINLINE static void runs(struct coroutine *self)
{
    (void)self;
    capture();
    sink += 1;
}

NOINLINE static void first(struct coroutine *self)
{
    sink += self != NULL;
}

NOINLINE static void second(struct coroutine *self)
{
    sink += 2 + (self != NULL);
}

NOINLINE static void third(struct coroutine *self)
{
    sink += 3 + (self != NULL);
}

NOINLINE static void schedule(struct coroutine *coroutine)
{
    coroutine->resume(coroutine);
    sink += 4;
}

/* Runs it, with the options set before, and reads what the walk gave. */
static void run(struct coroutine *coroutine)
{
    asked = 0;
    schedule(coroutine);
    if (cbf_size > 0)
        trace_decode(&trace, buffer, cbf_size);
}

static uint64_t address_of(void (*function)(struct coroutine *))
{
    return (uintptr_t)function;
}

static struct coroutine three[4];

static void begin(void)
{
    three[0] = (struct coroutine){ .resume = runs, .awaited_by = &three[1] };
    three[1] = (struct coroutine){ .resume = first, .awaited_by = &three[2] };
    three[2] = (struct coroutine){ .resume = second, .awaited_by = &three[3] };
    three[3] = (struct coroutine){ .resume = third };
    options = (struct sframe_backtrace_options)SFRAME_BACKTRACE_OPTIONS_INIT;
    info = (struct sframe_backtrace_info)SFRAME_BACKTRACE_INFO_INIT;
    options.flags = SFRAME_BACKTRACE_ASYNC;
    options.coroutine = &three[0];
    options.continuation = awaiting;
    options.continuation_user = &asked;
}

TestSuite(coroutines, .init = begin);

/* Frames of the stack from capture() to runs(), both included. */
enum { ON_STACK = 2 };

static void expect_three(void)
{
    void (*const functions[])(struct coroutine *) = { first, second, third };

    cr_assert(eq(sz, trace.count, (size_t)ON_STACK + 3));
    cr_expect(eq(int, trace.end, 1));
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(u32, info.frames, ON_STACK + 3));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_ASYNC], 3));
    cr_expect(trace.address[1] - address_of(runs) < 64);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(eq(int, trace.kind[ON_STACK + i], SFB_FRAME_ASYNC));
        cr_expect(eq(u64, trace.address[ON_STACK + i], address_of(functions[i])));
    }
}

Test(coroutines, follow_the_innermost_ones_frame)
{
    run(&three[0]);
    expect_three();
    cr_assert(eq(long, count, ON_STACK + 3));
    for (size_t i = 1; i < ON_STACK + 3; i++) /* each behind a byte that can be looked up */
        cr_expect(eq(u64, (uintptr_t)addresses[i], trace.address[i] + (i >= ON_STACK)));
    cr_expect(eq(uint, asked, 8)); /* two walks, four answers each */
}

/* --- In a signal handler ---------------------------------------------------------------------- */

static void on_signal(int number, siginfo_t *siginfo, void *context)
{
    (void)number;
    (void)siginfo;
    options.context = context;
    capture();
    options.context = NULL;
}

NOINLINE static void runs_and_signals(struct coroutine *self)
{
    (void)self;
    kill(getpid(), SIGUSR1);
    sink += 5;
}

Test(coroutines, follow_an_interrupted_one)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    size_t on_stack;

    sigaction(SIGUSR1, &action, NULL);
    three[0].resume = runs_and_signals;
    run(&three[0]);
    cr_assert(ge(sz, trace.count, (size_t)5));
    on_stack = trace.count - 3;
    cr_expect(eq(int, trace.kind[0], SFB_FRAME_PC));
    cr_expect(trace.address[on_stack - 1] - address_of(runs_and_signals) < 64);
    cr_expect(eq(u64, trace.address[on_stack], address_of(first)));
    cr_expect(eq(int, (int)info.end, SFB_END));
}

/* Interrupted in the resume function itself, at its first byte and behind it. */
Test(coroutines, follow_a_pc_of_theirs)
{
    for (unsigned at = 0; at < 2; at++) {
        ucontext_t context;

        getcontext(&context);
        machine_set_ucontext(&context, address_of(second) + at, machine_regs(&context).sp,
                             machine_regs(&context).fp);
        three[0].resume = second;
        options.context = &context;
        capture();
        trace_decode(&trace, buffer, cbf_size);
        cr_assert(eq(sz, trace.count, (size_t)4));
        cr_expect(eq(int, trace.kind[0], SFB_FRAME_PC));
        cr_expect(eq(u64, trace.address[1], address_of(first)));
    }
}

/* --- In a part of one ------------------------------------------------------------------------- */

static volatile int rare = 1;

NOINLINE __attribute__((cold)) static void capture_rarely(void)
{
    capture();
    sink += 6;
}

/* gcc for x86-64 moves the call to a part of its own, `.cold`, with a row of its own. */
NOINLINE static void runs_rarely(struct coroutine *self)
{
    if (rare)
        capture_rarely();
    sink += 7 + (self != NULL);
}

NOINLINE static void calls_rarely(struct coroutine *self)
{
    runs_rarely(self);
    sink += 8;
}

static void expect_parts(size_t on_stack)
{
    run(&three[0]);
    cr_assert(eq(sz, trace.count, on_stack + 3));
    cr_expect(eq(u64, trace.address[on_stack], address_of(first)));
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__) &&                         \
    !defined(__SANITIZE_ADDRESS__)
    cr_expect(trace.address[2] - address_of(runs_rarely) >= 64);
#endif
}

Test(coroutines, follow_one_from_its_cold_part)
{
    three[0].resume = runs_rarely;
    expect_parts(3); /* capture(), capture_rarely(), runs_rarely() */
    cr_expect(eq(int, (int)info.end, SFB_END));
}

/* The part belongs to a function that the coroutine called. */
Test(coroutines, do_not_follow_another_functions_cold_part)
{
    three[0].resume = calls_rarely;
    expect_parts(4);
    cr_expect(trace.address[3] - address_of(calls_rarely) < 64);
}

/* --- Where there is no coroutine -------------------------------------------------------------- */

static void expect_the_stack_alone(void)
{
    static volatile int two = 2; /* unrolled, the loop would call from two places */
    struct trace with = { .count = 0 };

    for (int i = 0; i < two; i++) {
        options.flags = i == 0 ? SFRAME_BACKTRACE_ASYNC : 0;
        run(&three[0]);
        cr_expect(zero(u32, info.by_source[SFB_SOURCE_ASYNC]));
        cr_expect(ge(sz, trace.count, (size_t)ON_STACK + 2)); /* schedule(), and further out */
        if (i == 0)
            with = trace;
        else
            cr_expect(eq(sz, trace_differs(&with, 0, &trace, 0), SIZE_MAX));
    }
    options.flags = SFRAME_BACKTRACE_ASYNC;
}

Test(coroutines, of_which_no_frame_runs_leave_the_stack_as_it_is)
{
    static struct coroutine other;
    static struct coroutine *const innermost[] = { NULL, &three[1], &other };

    for (size_t i = 0; i < sizeof innermost / sizeof *innermost; i++) {
        options.coroutine = innermost[i];
        expect_the_stack_alone();
        cr_expect(zero(uint, asked));
    }
    options.coroutine = (const uint8_t *)&three[0] + 4; /* misaligned */
    expect_the_stack_alone();
    three[0].awaited_by = NULL;
    options.coroutine = &three[0];
    run(&three[0]); /* none awaits it: the end */
    cr_expect(eq(sz, trace.count, (size_t)ON_STACK));
    cr_expect(eq(int, (int)info.end, SFB_END));
}

/* --- Continuations that are none -------------------------------------------------------------- */

static void expect_end(enum sfb_status status, size_t frames)
{
    run(&three[0]);
    cr_expect(eq(int, (int)info.end, (int)status));
    cr_expect(eq(sz, trace.count, frames));
    cr_expect(eq(int, trace.end, 0));
}

Test(coroutines, end_at_a_continuation_that_is_none)
{
    void *const unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct coroutine *const good = three[1].awaited_by;

    cr_assert(unreadable != MAP_FAILED);
    three[1].awaited_by = unreadable;
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    three[1].awaited_by = (void *)((uint8_t *)good + 1);
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    three[1].awaited_by = (void *)~(uintptr_t)7;
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    three[1].awaited_by = good;
    good->resume = NULL; /* it is done */
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    memset(&good->resume, 0x41, sizeof good->resume);
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    good->resume = (void (*)(struct coroutine *))(address_of(second) + 1);
    expect_end(SFB_BAD_CONTINUATION, ON_STACK + 1);
    good->resume = second;
    run(&three[0]);
    expect_three();
}

Test(coroutines, refuse_circles_of_any_length_behind_any_tail)
{
    enum { MOST = 40 };
    static struct coroutine ring[MOST];

    for (unsigned length = 1; length <= MOST; length++)
        for (unsigned back = 0; back < length; back++) {
            for (unsigned i = 0; i < length; i++)
                ring[i] = (struct coroutine){ .resume = first, .awaited_by = &ring[i + 1] };
            ring[length - 1].awaited_by = &ring[back];
            ring[0].resume = runs;
            options.coroutine = &ring[0];
            run(&ring[0]);
            cr_expect(eq(int, (int)info.end, SFB_CONTINUATION_CIRCLE), "%u to %u", length, back);
            cr_expect(ge(u32, info.frames, ON_STACK + length - 1));
            cr_expect(le(u32, info.frames, ON_STACK + 4 * length));
        }
}

/* --- Limits, and other options ---------------------------------------------------------------- */

Test(coroutines, count_as_frames)
{
    options.max_frames = ON_STACK + 1;
    expect_end(SFB_FRAME_LIMIT, ON_STACK + 1);
    options.outermost = 2;
    run(&three[0]);
    cr_expect(eq(u32, info.omitted, 2));
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(u64, trace.address[trace.count - 2], address_of(second)));
    cr_expect(eq(u64, trace.address[trace.count - 1], address_of(third)));
    cr_expect(eq(int, trace.kind[trace.count - 1], SFB_FRAME_ASYNC));
    options.outermost = options.max_frames = 0;
    options.skip = ON_STACK + 1;
    run(&three[0]);
    cr_expect(eq(sz, trace.count, (size_t)2));
    cr_expect(eq(u64, trace.address[0], address_of(second)));
}

Test(coroutines, are_bounded_by_the_budget)
{
    static struct coroutine many[MANY];

    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct coroutine){ .resume = i % 2 ? first : second,
                                      .awaited_by = i + 1 < MANY ? &many[i + 1] : NULL };
    many[0].resume = runs;
    options.coroutine = &many[0];
    options.max_frames = 1000;
    run(&many[0]);
    cr_expect(eq(u32, info.frames, 1000));
    cr_expect(eq(int, (int)info.end, SFB_FRAME_LIMIT));
    options.skip = 2 * MANY; /* none is written */
    run(&many[0]);
    cr_expect(eq(int, (int)info.end, SFB_END));
    options.max_work = 1 << 16;
    run(&many[0]);
    cr_expect(eq(int, (int)info.end, SFB_WORK_LIMIT));
    cr_expect(lt(uint, asked, 2100));
}

Test(coroutines, go_with_other_options)
{
    static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) / sizeof(uint64_t)];
    struct sframe_backtrace_resume state = { { 0 } };

    options.memo = memo;
    options.memo_size = sizeof memo;
    options.flags |= SFRAME_BACKTRACE_DOUBT | SFRAME_BACKTRACE_NO_LIBUNWIND;
    run(&three[0]);
    expect_three();
    options.flags = SFRAME_BACKTRACE_ASYNC;
    for (unsigned i = 0; i < 3; i++) {
        run(&three[0]);
        expect_three();
        cr_expect(zero(u32, info.memo_used));
    }
    options.resume = &state;
    run(&three[0]);
    cr_expect(eq(long, cbf_size, -SFB_BAD_ARGUMENT));
    cr_expect(eq(long, count, -SFB_BAD_ARGUMENT));
}

static bool read_own(void *user, uint64_t address, uint64_t *word)
{
    if (address == (uintptr_t)&three[2])
        ++*(unsigned *)user;
    *word = sfb_load(address);
    return true;
}

Test(coroutines, are_read_as_the_stack_is)
{
    unsigned reads = 0;

    options.read = read_own;
    options.read_user = &reads;
    run(&three[0]);
    expect_three();
    cr_expect(eq(uint, reads, 2));
}

/* --- Suspended -------------------------------------------------------------------------------- */

/* All frames are coroutines': the three that await, of which the first is where the walk begins. */
static void expect_suspended(size_t left_out)
{
    void (*const functions[])(struct coroutine *) = { first, second, third };

    capture();
    trace_decode(&trace, buffer, cbf_size);
    cr_assert(eq(sz, trace.count, 3 - left_out));
    cr_expect(eq(int, trace.end, 1));
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_ASYNC], 3 - left_out));
    cr_assert(eq(long, count, (long)trace.count));
    for (size_t i = 0; i < trace.count; i++) {
        cr_expect(eq(int, trace.kind[i], SFB_FRAME_ASYNC));
        cr_expect(eq(u64, trace.address[i], address_of(functions[left_out + i])));
        cr_expect(eq(u64, (uintptr_t)addresses[i], trace.address[i] + 1));
    }
}

static void begin_suspended(void)
{
    options.flags = SFRAME_BACKTRACE_ASYNC | SFRAME_BACKTRACE_SUSPENDED;
    options.coroutine = &three[1];
}

Test(coroutines, that_no_thread_runs_are_walked_from_the_first)
{
    unsigned reads = 0;

    begin_suspended();
    expect_suspended(0);
    cr_expect(eq(uint, asked, 6)); /* two walks, three answers each */
    options.skip = 1;
    expect_suspended(1);
    options.skip = 0;
    options.read = read_own;
    options.read_user = &reads;
    expect_suspended(0);
    cr_expect(eq(uint, reads, 2));
}

/* A backtrace without frames. */
static void expect_no_frame(const void *coroutine)
{
    options.coroutine = coroutine;
    capture();
    trace_decode(&trace, buffer, cbf_size);
    cr_expect(zero(sz, trace.count));
    cr_expect(zero(int, trace.end));
    cr_expect(zero(long, count));
    cr_expect(eq(int, (int)info.end, SFB_BAD_CONTINUATION));
}

Test(coroutines, that_should_be_suspended_and_are_not_give_no_frame)
{
    void *const unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    begin_suspended();
    expect_no_frame(unreadable);
    expect_no_frame((uint8_t *)&three[1] + 1);
    three[1].resume = NULL; /* it is done */
    expect_no_frame(&three[1]);
    three[1].resume = (void (*)(struct coroutine *))(address_of(second) + 1);
    expect_no_frame(&three[1]);
    cr_expect(zero(uint, asked));
    three[1].resume = first;
    three[3].awaited_by = &three[1];
    options.coroutine = &three[1];
    capture();
    cr_expect(eq(int, (int)info.end, SFB_CONTINUATION_CIRCLE));
}

Test(coroutines, are_not_walked_from_two_places)
{
    ucontext_t context;

    getcontext(&context);
    for (unsigned i = 0; i < 3; i++) {
        begin_suspended();
        options.context = i == 0 ? &context : NULL;
        if (i == 1)
            options.coroutine = NULL;
        else if (i == 2)
            options.flags = SFRAME_BACKTRACE_SUSPENDED;
        capture();
        cr_expect(eq(long, cbf_size, -SFB_BAD_ARGUMENT), "%u", i);
        cr_expect(eq(long, count, -SFB_BAD_ARGUMENT), "%u", i);
    }
}
