/* See stepper.h. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handlers.h"
#include "stepper.h"

static greg_t *reg(ucontext_t *uc, int number)
{
    return &uc->uc_mcontext.gregs[number];
}

static void *pointer(ucontext_t *uc, int number)
{
    return (void *)*reg(uc, number); // NOLINT: an address
}

static void leave_out(ucontext_t *uc, int64_t result)
{
    enum { LENGTH = 2 };

    *reg(uc, REG_RAX) = result;
    *reg(uc, REG_RIP) += LENGTH;
    *reg(uc, REG_RCX) = *reg(uc, REG_RIP); /* as the instruction does */
    *reg(uc, REG_R11) = *reg(uc, REG_EFL);
}

/* The thread's mask is what its handler returns to. */
static void set_mask(ucontext_t *uc)
{
    uint64_t keep = handlers_unblocked(), set, *mask = (uint64_t *)uc->uc_sigmask.__val;
    const void *in = pointer(uc, REG_RSI);
    void *out = pointer(uc, REG_RDX);
    greg_t how = *reg(uc, REG_RDI);

    if (!in || (how != SIG_BLOCK && how != SIG_SETMASK))
        return;
    memcpy(&set, in, sizeof set);
    if (!(set & keep))
        return;
    if (out)
        memcpy(out, mask, sizeof *mask);
    *mask = (how == SIG_BLOCK ? *mask | set : set) &
            ~(keep | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));
    leave_out(uc, 0);
}

static void set_action(ucontext_t *uc)
{
    struct kernel_action in;
    const void *given = pointer(uc, REG_RSI);
    int signo = (int)*reg(uc, REG_RDI);

    if (!handlers_has(signo))
        return;
    if (given)
        memcpy(&in, given, sizeof in);
    handlers_exchange(signo, given ? &in : NULL, pointer(uc, REG_RDX));
    leave_out(uc, 0);
}

void guard_next_instruction(struct stepper *s, ucontext_t *uc)
{
    static const uint8_t instruction[] = { 0x0f, 0x05 };

    s->may_fork = false;
    if (memcmp(pointer(uc, REG_RIP), instruction, sizeof instruction) != 0)
        return;
    switch (*reg(uc, REG_RAX)) {
    case SYS_rt_sigprocmask: set_mask(uc); break;
    case SYS_rt_sigaction: set_action(uc); break;
    case SYS_clone:
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone3: s->may_fork = true; break;
    default: break;
    }
}

bool guard_is_child(struct stepper *s, const ucontext_t *uc)
{
    return s->may_fork && uc->uc_mcontext.gregs[REG_RAX] == 0;
}

/* Its own frame is the first of the other stack, and its row tells unwinders the way back. */
__asm__(".pushsection .text\n"
        ".type call_on, @function\n"
        "call_on:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov %rcx, %rsp\n"
        "    mov %rdx, %rax\n"
        "    call *%rax\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size call_on, . - call_on\n"
        ".popsection\n");

void call_on(struct stepper *s, ucontext_t *uc, void (*function)(struct stepper *, ucontext_t *),
             void *top);

void guard_call(void (*function)(struct stepper *, ucontext_t *), struct stepper *s, ucontext_t *uc)
{
    call_on(s, uc, function, s->own_stack + sizeof s->own_stack);
}
