/*
 * Walks over Swift's async functions, imitated without Swift: a library of its runtime's name, whose job runner calls a
 * function with a context in r14 (x22). A context is that of the parent, and where the parent resumes (Swift 6.2.3 on
 * Linux).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/test.h"
#include "support/trace.h"

struct context {
    struct context *parent;
    void (*resume)(void);
    uint64_t locals[2];
};

/* Of libs/swift_runtime.S. */
void runtime_run(void *context, void (*function)(void));
void runtime_call(void (*function)(void));
void runtime_run_after(void *context, void (*function)(void), void *old);

enum { FRAMES = 64, BUFFER = 4096, PARENTS = 3, DEPTH = 5 };

static struct sframe_backtrace_options options;
static struct sframe_backtrace_info info;
static uint8_t buffer[BUFFER];
static ssize_t cbf_size, count;
static void *addresses[FRAMES];
static struct trace trace;
static volatile int sink;

NOINLINE static void capture(void)
{
    errno = ENOTTY;
    cbf_size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    count = sframe_backtrace_addresses(addresses, FRAMES, &options, NULL);
    cr_expect(eq(int, errno, ENOTTY));
    sink++;
}

/* The functions in which the parents resume. */
NOINLINE static void first(void)
{
    sink += 1;
}

NOINLINE static void second(void)
{
    sink += 2;
}

NOINLINE static void third(void)
{
    sink += 3;
}

static void (*const parents[PARENTS])(void) = { first, second, third };

static uint64_t address_of(void (*function)(void))
{
    return (uintptr_t)function;
}

/* The async function that runs: of each kind, in this many frames of the stack. */
NOINLINE static void runs(void)
{
    capture();
    sink += 4;
}

/* A function that uses every register that a callee has to preserve. */
NOINLINE static void uses_registers(unsigned depth)
{
#if defined(__x86_64__)
    __asm__ volatile("xor %%r14d, %%r14d" ::: "rbx", "r12", "r13", "r14", "r15");
#else
    __asm__ volatile("mov x22, #0" ::: "x19", "x20", "x21", "x22", "x23");
#endif
    if (depth > 1)
        uses_registers(depth - 1);
    else
        capture();
    sink += 5;
}

NOINLINE static void runs_deep(void)
{
    uses_registers(DEPTH);
    sink += 6;
}

/* The runtime calls a function of the program, such as an executor's, which is no job. */
NOINLINE static void runs_an_executor(void)
{
    runtime_call(runs);
    sink += 7;
}

/*
 * Most of Swift's functions have no row in a table. bare_parent() is one that resumes; bare_runs() keeps its context below
 * its frame record, and uses the register for something else.
 */
void bare_parent(void);
void bare_runs(void);
void capture_for_bare(void);
__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl bare_parent, bare_runs\n"
        "        .type bare_parent, %function\n"
        "        .type bare_runs, %function\n"
        "bare_parent:\n"
        "        ret\n"
        "        .size bare_parent, . - bare_parent\n"
        "        .p2align 4\n"
        "bare_runs:\n"
#if defined(__x86_64__)
        "        push %rbp\n"
        "        mov %rsp, %rbp\n"
        "        push %r14\n"
        "        push %r14\n"
        "        xor %r14d, %r14d\n"
        "        call capture_for_bare\n"
        "        pop %r14\n"
        "        pop %r14\n"
        "        pop %rbp\n"
#else
        "        stp x22, x19, [sp, #-32]!\n"
        "        str x22, [sp, #8]\n"
        "        stp x29, x30, [sp, #16]\n"
        "        add x29, sp, #16\n"
        "        mov x22, #0\n"
        "        bl capture_for_bare\n"
        "        ldp x29, x30, [sp, #16]\n"
        "        ldr x22, [sp, #8]\n"
        "        add sp, sp, #32\n"
#endif
        "        ret\n"
        "        .size bare_runs, . - bare_runs\n");

NOINLINE __attribute__((used)) void capture_for_bare(void)
{
    capture();
    sink += 11;
}

static void on_signal(int number, siginfo_t *siginfo, void *context)
{
    (void)number;
    (void)siginfo;
    options.context = context;
    capture();
    options.context = NULL;
}

NOINLINE static void runs_and_signals(void)
{
    kill(getpid(), SIGUSR1);
    sink += 8;
}

static volatile int rare = 1;

NOINLINE __attribute__((cold)) static void capture_rarely(void)
{
    capture();
    sink += 13;
}

/* gcc for x86-64 moves the call to a part of its own, `.cold`, with a row of its own. */
NOINLINE static void runs_in_a_cold_part(void)
{
    if (rare)
        capture_rarely();
    sink += 14;
}

static struct context contexts[PARENTS];

static void begin(void)
{
    for (size_t i = 0; i < PARENTS; i++)
        contexts[i] = (struct context){ .parent = i + 1 < PARENTS ? &contexts[i + 1] : NULL,
                                        .resume = parents[i] };
    options = (struct sframe_backtrace_options)SFRAME_BACKTRACE_OPTIONS_INIT;
    info = (struct sframe_backtrace_info)SFRAME_BACKTRACE_INFO_INIT;
    options.flags = SFRAME_BACKTRACE_ASYNC;
}

TestSuite(swift_contexts, .init = begin);

NOINLINE static void run_with(void *context, void (*function)(void))
{
    runtime_run(context, function);
    sink += 9;
    trace_decode(&trace, buffer, cbf_size);
}

static void run(void (*function)(void))
{
    run_with(&contexts[0], function);
}

/* @param on_stack  frames of the stack before */
static void expect_parents(size_t on_stack)
{
    cr_assert(eq(sz, trace.count, on_stack + PARENTS));
    cr_expect(eq(int, trace.end, 1));
    cr_expect(eq(int, (int)info.end, SFB_END));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_ASYNC], PARENTS));
    cr_assert(eq(long, count, (long)trace.count));
    for (size_t i = 0; i < PARENTS; i++) {
        cr_expect(eq(int, trace.kind[on_stack + i], SFB_FRAME_ASYNC));
        cr_expect(eq(u64, trace.address[on_stack + i], address_of(parents[i])));
        cr_expect(eq(u64, (uintptr_t)addresses[on_stack + i], address_of(parents[i]) + 1));
    }
}

Test(swift_contexts, are_followed_from_the_job_that_runs)
{
    run(runs);
    expect_parents(2);
    cr_expect(trace.address[1] - address_of(runs) < 64);
}

Test(swift_contexts, are_found_behind_functions_that_use_the_register)
{
    run(runs_deep);
    expect_parents(1 + DEPTH + 1);
    cr_expect(trace.address[DEPTH + 1] - address_of(runs_deep) < 64);
}

Test(swift_contexts, are_not_those_of_a_function_that_the_runtime_calls_back)
{
    run(runs_an_executor);
    expect_parents(4); /* capture(), runs(), runtime_call(), runs_an_executor() */
    cr_expect(trace.address[1] - address_of(runs) < 64);
    cr_expect(trace.address[3] - address_of(runs_an_executor) < 64);
}

/* The runner's own callers have what an earlier job left in the register. */
Test(swift_contexts, are_not_those_of_an_earlier_job)
{
    static struct context old = { .resume = first };

    runtime_run_after(&contexts[0], runs, &old);
    sink += 15;
    trace_decode(&trace, buffer, cbf_size);
    expect_parents(2);
    cr_expect(trace.address[1] - address_of(runs) < 64);
}

Test(swift_contexts, are_found_without_tables)
{
    contexts[1].resume = bare_parent;
    run(bare_runs);
    cr_assert(
        eq(sz, trace.count, (size_t)3 + PARENTS)); /* capture(), capture_for_bare(), bare_runs() */
    cr_expect(info.end == SFB_END || info.end == SFB_UNPROVEN_END);
    cr_expect(trace.address[2] - address_of(bare_runs) < 64);
    for (size_t i = 0; i < PARENTS; i++)
        cr_expect(eq(u64, trace.address[3 + i], address_of(i == 1 ? bare_parent : parents[i])));
}

Test(swift_contexts, are_found_in_a_signal_handler)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

    sigaction(SIGUSR1, &action, NULL);
    run(runs_and_signals);
    cr_assert(ge(sz, trace.count, (size_t)PARENTS + 2));
    cr_expect(eq(int, trace.kind[0], SFB_FRAME_PC));
    expect_parents(trace.count - PARENTS);
    cr_expect(trace.address[trace.count - PARENTS - 1] - address_of(runs_and_signals) < 64);
}

Test(swift_contexts, are_found_from_a_cold_part)
{
    run(runs_in_a_cold_part);
    expect_parents(3);
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__) &&                         \
    !defined(__SANITIZE_ADDRESS__)
    cr_expect(trace.address[2] - address_of(runs_in_a_cold_part) >= 64);
#endif
}

Test(swift_contexts, are_found_by_a_doubting_walk)
{
    options.flags |= SFRAME_BACKTRACE_DOUBT | SFRAME_BACKTRACE_NO_LIBUNWIND;
    run(runs_deep);
    expect_parents(1 + DEPTH + 1);
}

/* --- In a crash report ------------------------------------------------------------------------ */

NOINLINE static void runs_and_crashes(void)
{
    raise(SIGSEGV);
    sink += 10;
}

static void crash(void *with, int fd)
{
    struct sframe_backtrace_crash_options crash_options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    (void)with;
    crash_options.fd = fd;
    crash_options.flags = SFRAME_BACKTRACE_ASYNC;
    if (sframe_backtrace_install_crash_handler(&crash_options) == SFB_OK)
        runtime_run(&contexts[0], runs_and_crashes);
}

Test(swift_contexts, are_in_a_crash_report)
{
    struct child child = child_run(crash, NULL);
    const char *at = child.text;
    char line[64];

    cr_assert(at != NULL && child.signal == SIGSEGV);
    for (size_t i = 0; i < PARENTS; i++) {
        snprintf(line, sizeof line, " async 0x%" PRIx64 " ", address_of(parents[i]));
        at = strstr(at, line);
        cr_assert(at != NULL, "%s is not in\n%s", line, child.text);
    }
    cr_expect(strstr(at, "\ncomplete\n") != NULL, "%s", child.text);
    child_free(&child);
}

/* --- Where there are none --------------------------------------------------------------------- */

/* The stack's frames are given, of which the runner's and run_with()'s are two. */
static void expect_the_stack(void *context)
{
    static volatile int two = 2; /* unrolled, the loop would call from two places */
    struct trace with = { .count = 0 };

    for (int i = 0; i < two; i++) {
        options.flags = i == 0 ? SFRAME_BACKTRACE_ASYNC : 0;
        run_with(context, runs);
        cr_expect(zero(u32, info.by_source[SFB_SOURCE_ASYNC]));
        cr_expect(ge(sz, trace.count, (size_t)5));
        if (i == 0)
            with = trace;
        else
            cr_expect(eq(sz, trace_differs(&with, 0, &trace, 0), SIZE_MAX));
    }
    options.flags = SFRAME_BACKTRACE_ASYNC;
}

Test(swift_contexts, that_are_none_leave_the_stack_as_it_is)
{
    void *const unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert(unreadable != MAP_FAILED);
    expect_the_stack(NULL);
    expect_the_stack(unreadable);
    expect_the_stack((uint8_t *)&contexts[0] + 4);
    expect_the_stack((void *)~(uintptr_t)7);
    contexts[0].resume = (void (*)(void))(address_of(first) + 1);
    expect_the_stack(&contexts[0]);
    memset(&contexts[0].resume, 0x41, sizeof contexts[0].resume);
    expect_the_stack(&contexts[0]);
    contexts[0].resume = NULL;
    expect_the_stack(&contexts[0]);
}

static void expect_end(enum sfb_status status, size_t frames)
{
    run(runs);
    cr_expect(eq(int, (int)info.end, (int)status));
    cr_expect(eq(sz, trace.count, frames));
    cr_expect(eq(int, trace.end, status == SFB_END));
}

Test(swift_contexts, end_the_walk_at_a_parent_that_is_none)
{
    void *const unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    contexts[1].parent = unreadable;
    expect_end(SFB_BAD_CONTINUATION, 4);
    contexts[1].parent = (void *)((uint8_t *)&contexts[2] + 1);
    expect_end(SFB_BAD_CONTINUATION, 4);
    contexts[1].parent = &contexts[2];
    contexts[2].resume = (void (*)(void))(uintptr_t)&contexts;
    expect_end(SFB_BAD_CONTINUATION, 4);
    contexts[2].resume = NULL; /* the task ends there */
    expect_end(SFB_END, 4);
    options.max_frames = 3;
    expect_end(SFB_FRAME_LIMIT, 3);
}

Test(swift_contexts, that_form_a_circle_are_refused)
{
    for (size_t back = 0; back < PARENTS; back++) {
        contexts[PARENTS - 1].parent = &contexts[back];
        run(runs);
        cr_expect(eq(int, (int)info.end, SFB_CONTINUATION_CIRCLE));
        cr_expect(ge(u32, info.frames, 2 + PARENTS));
        cr_expect(le(u32, info.frames, 2 + 4 * PARENTS));
    }
}

/* --- Suspended -------------------------------------------------------------------------------- */

/* Words of a task: 7, where it goes on; 8, the context that is handed to it. */
struct task {
    uint64_t other[7];
    void (*resume)(void);
    struct context *context;
};

NOINLINE static void goes_on(void)
{
    sink += 12;
}

static struct task task;

static void suspend(void (*resume)(void), struct context *context)
{
    task = (struct task){ .resume = resume, .context = context };
    options.flags = SFRAME_BACKTRACE_ASYNC | SFRAME_BACKTRACE_SUSPENDED;
    options.coroutine = &task;
    capture();
    trace_decode(&trace, buffer, cbf_size);
}

/* The place at which it goes on, and the parents. */
static void expect_suspended(void (*resume)(void))
{
    expect_parents(1);
    cr_expect(eq(u64, trace.address[0], address_of(resume)));
}

Test(swift_contexts, of_a_suspended_task_follow_the_place_where_it_goes_on)
{
    suspend(goes_on, &contexts[0]);
    cr_expect(eq(int, trace.kind[0], SFB_FRAME_ASYNC));
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_ASYNC], PARENTS + 1));
    info.by_source[SFB_SOURCE_ASYNC]--;
    expect_suspended(goes_on);
    suspend(bare_parent, &contexts[0]);
    info.by_source[SFB_SOURCE_ASYNC]--;
    expect_suspended(bare_parent);
}

/* Behind a call a function is handed the callee's context, which says where: that is one frame. */
Test(swift_contexts, of_a_callee_that_returned_are_no_frame_of_a_suspended_task)
{
    struct context callee = { .parent = &contexts[0], .resume = goes_on };

    suspend(goes_on, &callee);
    info.by_source[SFB_SOURCE_ASYNC]--;
    expect_suspended(goes_on);
}

Test(swift_contexts, of_a_task_without_a_parent_are_one_frame)
{
    suspend(goes_on, NULL);
    cr_expect(eq(sz, trace.count, 1));
    cr_expect(eq(int, (int)info.end, SFB_END));
    contexts[PARENTS - 1].parent = &contexts[0];
    suspend(goes_on, &contexts[0]);
    cr_expect(eq(int, (int)info.end, SFB_CONTINUATION_CIRCLE));
}

Test(swift_contexts, of_what_is_no_suspended_task_give_no_frame)
{
    void *const unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void *const none[] = { unreadable, (const uint8_t *)&task + 4, (void *)~(uintptr_t)7,
                                 &contexts };

    for (size_t i = 0; i <= sizeof none / sizeof *none; i++) {
        suspend((void (*)(void))(address_of(first) + 1), &contexts[0]);
        if (i > 0) {
            task.resume = goes_on;
            options.coroutine = none[i - 1];
            capture();
            trace_decode(&trace, buffer, cbf_size);
        }
        cr_expect(zero(sz, trace.count), "%zu", i);
        cr_expect(zero(int, trace.end));
        cr_expect(zero(long, count));
        cr_expect(eq(int, (int)info.end, SFB_BAD_CONTINUATION));
    }
    suspend(goes_on, unreadable);
    cr_expect(eq(sz, trace.count, 1));
    cr_expect(eq(int, (int)info.end, SFB_BAD_CONTINUATION));
}
