/*
 * Calls that a signal handler makes: it pushes the interrupted pc, and lets the program go on in another function, as Go's
 * runtime does to take a goroutine off its thread. Also at a jump behind a call, whose return address was a frame until
 * now, and is one again.
 *
 *     preempted ROUNDS
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

enum { EVERY_US = 500, TURNS = 10000 };

void spin(long turns);
void called_by_handler(void);
void be_preempted(void);
extern const char spin_end[];

static volatile long sink;

__asm__(
    ".text\n"
    "spin: .cfi_startproc\n"
    "push %rbx\n .cfi_def_cfa_offset 16\n .cfi_offset %rbx, -16\n"
    "mov %rdi, %rbx\n"
    "0: call leaf\n"
    "jmp 1f\n"
    "nop\n"
    "1: dec %rbx\n"
    "jnz 0b\n"
    "pop %rbx\n .cfi_def_cfa_offset 8\n"
    "ret\n .cfi_endproc\n"
    "leaf: .cfi_startproc\n"
    "ret\n .cfi_endproc\n"
    "spin_end:\n"
    /* All that it may change is as it was when it returns. What it returns to did not call it. */
    ".p2align 6\n"
    "called_by_handler: .cfi_startproc\n"
    "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
    "pushfq\n push %rax\n push %rcx\n push %rdx\n push %rsi\n push %rdi\n"
    "push %r8\n push %r9\n push %r10\n push %r11\n"
    "and $-16, %rsp\n"
    "call be_preempted\n"
    "lea -80(%rbp), %rsp\n"
    "pop %r11\n pop %r10\n pop %r9\n pop %r8\n"
    "pop %rdi\n pop %rsi\n pop %rdx\n pop %rcx\n pop %rax\n popfq\n"
    "pop %rbp\n .cfi_def_cfa %rsp, 8\n"
    "ret\n .cfi_endproc\n");

void be_preempted(void)
{
    sink++;
}

static void preempt(int number, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uintptr_t pc = (uintptr_t)regs[REG_RIP];

    (void)number;
    (void)info;
    if (pc < (uintptr_t)spin || pc >= (uintptr_t)spin_end)
        return;
    regs[REG_RSP] -= (greg_t)sizeof pc;
    *(uintptr_t *)regs[REG_RSP] = pc;
    regs[REG_RIP] = (greg_t)(uintptr_t)called_by_handler;
}

static NOINLINE void spin_from(int depth)
{
    if (depth > 0)
        spin_from(depth - 1);
    else
        spin(TURNS);
    sink++;
}

int main(int argc, char **argv)
{
    const struct itimerval every = { { 0, EVERY_US }, { 0, EVERY_US } };
    const struct sigaction action = { .sa_sigaction = preempt, .sa_flags = SA_SIGINFO };
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;

    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &every, NULL) != 0)
        return 1;
    for (long i = 0; i < rounds; i++)
        spin_from((int)(i % 20));
    printf("%d\n", sink != 0);
    return 0;
}
