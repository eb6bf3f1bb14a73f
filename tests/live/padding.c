/*
 * Padding that is run: glibc 2.36's `__memcpy_chk` has no-ops behind its last instruction, which no
 * table covers, and goes on through them into `memcpy`. Interrupted there, a walk still finds the
 * caller.
 *
 * A stack has to reach the outermost frame. libunwind, which others compare with, calls the padding
 * itself that.
 */
#include <signal.h>
#include <stdio.h>

#include "support/compiler.h"
#include "support/test.h"
#include "support/trace.h"
#include "support/trap_flag.h"

long checked(void);
extern const char padding[], behind[], behind_end[];

/* Every no-op that gas pads with, shortest first, and what it makes of an alignment. */
__asm__(".text\n"
        ".p2align 6\n"
        "checked: .cfi_startproc\n"
        "xorl %eax, %eax\n"
        ".cfi_endproc\n"
        "padding:\n"
        "nop\n"
        "xchg %ax, %ax\n"
        ".byte 0x66, 0x66, 0x90\n"
        "nopl (%rax)\n"
        ".byte 0x0f, 0x1f, 0x40, 0\n"
        ".byte 0x0f, 0x1f, 0x44, 0, 0\n"
        ".byte 0x66, 0x0f, 0x1f, 0x44, 0, 0\n"
        ".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n"
        ".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
        ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
        ".p2align 6\n"
        "behind: .cfi_startproc\n"
        "push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_offset %rbx, -16\n"
        "incq %rax\n"
        "pop %rbx\n .cfi_adjust_cfa_offset -8\n"
        "behind_end: ret\n .cfi_endproc\n"); /* the instruction says it there, and no table */

static volatile long sink;
static uint64_t caller, caller_end;
static unsigned in_padding, in_function, wrong;

static void on_trap(int number, siginfo_t *si, void *ucontext)
{
    static uint8_t buffer[2048];
    static struct trace stack;
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sframe_backtrace_info info = { .size = sizeof info };
    bool padded, inside;

    (void)number;
    (void)si;
    trace_decode(&stack, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    padded = stack.address[0] - (uintptr_t)padding < (uintptr_t)behind - (uintptr_t)padding;
    inside = stack.address[0] - (uintptr_t)behind < (uintptr_t)behind_end - (uintptr_t)behind;
    if (!padded && !inside)
        return;
    in_padding += padded;
    in_function += inside;
    if (stack.error == SFB_OK && stack.end && stack.count > 2 &&
        stack.address[1] - caller < caller_end - caller &&
        info.by_source[SFB_SOURCE_CODE_PATTERN] == padded &&
        info.by_source[SFB_SOURCE_LIBUNWIND] == 0)
        return;
    wrong++;
    fprintf(stderr, "padding%+ld: %zu frames, %s\n", (long)(stack.address[0] - (uintptr_t)padding),
            stack.count, sfb_status_str(info.end));
}

NOINLINE static long call(void)
{
    trap_on();
    sink += checked();
    trap_off();
    return sink;
}

Test(padding, that_is_run_has_the_caller_of_the_function_behind_it)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    caller = (uintptr_t)call;
    caller_end = caller + 256;
    sigaction(SIGTRAP, &action, NULL);
    cr_expect(eq(long, call(), 1));
    fprintf(stderr, "padding: %u stacks in it, %u behind it, %u wrong\n", in_padding, in_function,
            wrong);
    cr_expect(ge(u32, in_padding, 11));
    cr_expect(eq(u32, in_function, 3));
    cr_expect(eq(u32, wrong, 0));
}

static unsigned stacks, by_shape;
static volatile size_t room = 64; /* so that the compiler does not know that it suffices */

static void on_libc_trap(int number, siginfo_t *si, void *ucontext)
{
    static uint8_t buffer[2048];
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sframe_backtrace_info info = { .size = sizeof info };

    (void)number;
    (void)si;
    stacks++;
    if (sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info) <= 0 || info.end != SFB_END)
        wrong++;
    by_shape += info.by_source[SFB_SOURCE_CODE_PATTERN];
}

/* What the compiler calls with _FORTIFY_SOURCE. */
void *memcpy_checked(void *, const void *, size_t, size_t) __asm__("__memcpy_chk");
void *memset_checked(void *, int, size_t, size_t) __asm__("__memset_chk");

NOINLINE static void call_libc(char *to, const char *from)
{
    size_t size = room, limit = room;

    trap_on();
    memcpy_checked(to, from, size, limit);
    memset_checked(to, 1, size, limit);
    trap_off();
    sink += to[0];
}

/* Which variants of them the processor gets decides whether there is padding. */
Test(padding, of_the_c_library_stops_no_walk)
{
    struct sigaction action = { .sa_sigaction = on_libc_trap, .sa_flags = SA_SIGINFO };
    char to[64], from[64] = "";

    sigaction(SIGTRAP, &action, NULL);
    call_libc(to, from);
    fprintf(stderr, "padding: %u stacks in libc, %u of them in padding, %u wrong\n", stacks,
            by_shape, wrong);
    cr_expect(lt(u32, 20, stacks));
    cr_expect(eq(u32, wrong, 0));
}
