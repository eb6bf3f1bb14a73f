/*
 * Every instruction: the trap flag stops the program after each one, and both walks start from
 * there. That is where asynchronous unwinding is hard: prologues, epilogues, PLT stubs, the
 * loader's resolver, trampolines.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "support/compiler.h"
#include "support/oracle.h"
#include "support/test.h"

static volatile int sink;
static struct trace ours, theirs, first_ours, first_theirs;
static unsigned stacks, different;
static uint32_t by_source[SFB_SOURCE_COUNT];

static void on_trap(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t buffer[2048];
    ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);

    (void)number;
    (void)si;
    trace_decode(&ours, buffer, size);
    oracle_walk(&theirs, ucontext);
    stacks++;
    for (unsigned s = 0; s < SFB_SOURCE_COUNT; s++)
        by_source[s] += info.by_source[s];
    if (trace_differs(&ours, 0, &theirs, 0) == SIZE_MAX && ours.end == theirs.end &&
        ours.error == SFB_OK)
        return;
    if (different++ == 0) {
        first_ours = ours;
        first_theirs = theirs;
    }
}

/* In assembly, because what pushes flags has to tell the tables, and inline assembly cannot. */
void trap_on(void);
void trap_off(void);
__asm__(".text\n"
        ".globl trap_on, trap_off\n"
        "trap_on: .cfi_startproc\n"
        "pushfq\n .cfi_adjust_cfa_offset 8\n"
        "orl $0x100, (%rsp)\n"
        "popfq\n .cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n"
        "trap_off: .cfi_startproc\n"
        "pushfq\n .cfi_adjust_cfa_offset 8\n"
        "andl $~0x100, (%rsp)\n"
        "popfq\n .cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n");

/* The kernel clears the trap flag for a handler, and sigreturn puts it back. */
static void on_user(int number)
{
    trap_on();
    sink += number;
}

NOINLINE static int leaf(int n)
{
    return n + sink;
}

NOINLINE static int saves_registers(int n)
{
    int a = leaf(n), b = leaf(a), c = leaf(b), d = leaf(c);

    return leaf(a + b) + leaf(c + d) + a * b * c * d;
}

NOINLINE static int moves_the_stack(size_t n)
{
    volatile char *space = __builtin_alloca(n);

    space[0] = 1;
    return leaf(space[0]);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What is stepped through. Each call of libc for the first time goes through the resolver. */
NOINLINE static void work(void)
{
    int v[] = { 4, 2, 3, 1 };
    char text[64];

    sink += saves_registers(3);
    sink += moves_the_stack(100 + (size_t)(sink & 15));
    qsort(v, 4, sizeof *v, compare);
    snprintf(text, sizeof text, "%d %s %5.2f", v[0], "text", 1.5);
    sink += (int)strtol(text, NULL, 10);
    raise(SIGUSR1);
}

/* Until this many outer frames, the two stacks are the same. */
static size_t common_outer_frames(const struct trace *a, const struct trace *b)
{
    size_t n = 0;

    while (n < a->count && n < b->count &&
           a->address[a->count - 1 - n] == b->address[b->count - 1 - n])
        n++;
    return n;
}

static sigjmp_buf target;
static struct trace reference;
static unsigned astray;

/* Like on_trap(), but the oracle is the stack as it was before: see the test. */
static void on_jump_trap(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    uint8_t buffer[2048];

    (void)number;
    (void)si;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, NULL));
    oracle_walk(&theirs, ucontext);
    stacks++;
    astray += common_outer_frames(&theirs, &reference) < reference.count - 2;
    if ((!ours.end || common_outer_frames(&ours, &reference) < reference.count - 2) &&
        different++ == 0) {
        first_ours = ours;
        first_theirs = theirs;
    }
}

NOINLINE static void jump(int depth)
{
    if (depth > 0)
        jump(depth - 1);
    else
        siglongjmp(target, 1);
    sink++;
}

NOINLINE static int set_and_jump(void)
{
    uint8_t buffer[2048];

    trace_decode(&reference, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL));
    if (sigsetjmp(target, 0) == 0) {
        trap_on();
        jump(3);
    }
    trap_off();
    return sink++;
}

static void on_alternate_stack(void (*handler)(int, siginfo_t *, void *))
{
    static char alternate[1 << 18];
    stack_t on = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaltstack(&on, NULL);
    sigaction(SIGTRAP, &action, NULL);
}

/*
 * Half-way through longjmp() the tables describe the frame that is jumped to, whose sp is in a
 * register of its own. libunwind takes the CFA for it, which is the jump buffer, and goes astray;
 * so here the oracle is the stack that the jump goes back to.
 */
Test(single_step, stays_on_the_right_stack_inside_of_longjmp)
{
    on_alternate_stack(on_jump_trap);
    set_and_jump();
    fprintf(stderr,
            "single_step: %u stacks on the way through longjmp, %u wrong, of libunwind %u\n",
            stacks, different, astray);
    if (different)
        trace_print("the first that is wrong", &first_ours, &first_theirs);
    cr_expect(gt(u32, stacks, 50));
    cr_expect(eq(u32, different, 0));
}

Test(single_step, agrees_with_libunwind_at_every_instruction)
{
    struct sigaction user = { .sa_handler = on_user };

    on_alternate_stack(on_trap);
    sigaction(SIGUSR1, &user, NULL);
    trap_on();
    work();
    trap_off();

    fprintf(stderr,
            "single_step: %u stacks, %u different; frames: %u by .sframe, %u by signal "
            "frames, %u by libunwind\n",
            stacks, different, by_source[SFB_SOURCE_SFRAME], by_source[SFB_SOURCE_SIGNAL],
            by_source[SFB_SOURCE_LIBUNWIND]);
    if (different)
        trace_print("the first difference", &first_ours, &first_theirs);
    cr_expect(gt(u32, stacks, 2000));
    cr_expect(eq(u32, different, 0));
    cr_expect(gt(u32, by_source[SFB_SOURCE_SFRAME], 1000));
    cr_expect(gt(u32, by_source[SFB_SOURCE_SIGNAL], 5));
}
