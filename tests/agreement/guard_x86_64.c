/* See stepper.h. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stepper.h"

/* As the kernel has it; glibc's struct differs. */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

static const int needed[] = { SIGTRAP, SIGSEGV, SIGBUS };
enum { NEEDED = sizeof needed / sizeof *needed };

static struct kernel_action wanted[NEEDED]; /* what the program set, and believes to be in force */
static bool is_set[NEEDED];

static uint64_t bit(int signo)
{
    return 1ull << (signo - 1);
}

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
    uint64_t keep = 0, set, *mask = (uint64_t *)uc->uc_sigmask.__val;
    const void *in = pointer(uc, REG_RSI);
    void *out = pointer(uc, REG_RDX);
    greg_t how = *reg(uc, REG_RDI);

    for (int i = 0; i < NEEDED; i++)
        keep |= bit(needed[i]);
    if (!in || (how != SIG_BLOCK && how != SIG_SETMASK))
        return;
    memcpy(&set, in, sizeof set);
    if (!(set & keep))
        return;
    if (out)
        memcpy(out, mask, sizeof *mask);
    *mask = (how == SIG_BLOCK ? *mask | set : set) & ~(keep | bit(SIGKILL) | bit(SIGSTOP));
    leave_out(uc, 0);
}

static void set_action(ucontext_t *uc)
{
    const void *in = pointer(uc, REG_RSI);
    void *out = pointer(uc, REG_RDX);

    for (int i = 0; i < NEEDED; i++) {
        if (needed[i] != *reg(uc, REG_RDI))
            continue;
        if (out)
            memcpy(out, &wanted[i], sizeof wanted[i]);
        if (in) {
            memcpy(&wanted[i], in, sizeof wanted[i]);
            is_set[i] = true;
        }
        leave_out(uc, 0);
    }
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

void guard_give_back(int signo)
{
    for (int i = 0; i < NEEDED; i++) {
        if (needed[i] == signo && is_set[i]) {
            syscall(SYS_rt_sigaction, signo, &wanted[i], NULL, sizeof wanted[i].mask);
            return;
        }
    }
    signal(signo, SIG_DFL);
}
