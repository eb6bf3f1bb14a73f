/* x86-64: see machine.h. */
#include "oracles/machine.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

const char machine_libunwind_prefix[] = "_ULx86_64_";
const int machine_libunwind_cfa = UNW_X86_64_CFA;
const uint64_t machine_trampoline_syscall = 7; /* mov $15,%rax is that long */
const bool machine_can_step = true;

static void ignore(int signo)
{
    (void)signo;
}

/*
 * The kernel is asked for the return address that glibc gave it with a handler; it is the same for
 * all of them.
 */
uint64_t machine_find_trampoline(void)
{
    /* As the kernel has it, linux/arch/x86/include/uapi/asm/signal.h; glibc's struct differs. */
    struct {
        uint64_t handler, flags, restorer, mask;
    } action = { 0 };
    struct sigaction probe = { .sa_handler = ignore }, before;

    if (sigaction(SIGPROF, &probe, &before) != 0)
        return 0;
    if (syscall(SYS_rt_sigaction, SIGPROF, NULL, &action, sizeof action.mask) != 0)
        action.restorer = 0;
    sigaction(SIGPROF, &before, NULL);
    return action.restorer;
}

uint64_t machine_pc(const ucontext_t *uc)
{
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

void machine_set_pc(ucontext_t *uc, uint64_t pc)
{
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

bool machine_link_is_signed(const ucontext_t *uc)
{
    (void)uc;
    return false;
}

ucontext_t *machine_signal_context(uint64_t sp)
{
    return (ucontext_t *)(uintptr_t)sp; // NOLINT: an address
}

uint64_t machine_leave_stub(ucontext_t *uc)
{
    (void)uc;
    return 0;
}

enum { TRAP_FLAG = 0x100 }; /* of rflags: SIGTRAP after the next instruction */

void machine_step(ucontext_t *uc, bool on)
{
    if (on)
        uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

bool machine_is_stepped(const ucontext_t *uc)
{
    return (uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG) != 0;
}
