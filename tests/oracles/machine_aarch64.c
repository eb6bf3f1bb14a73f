/* AArch64: see machine.h. */
#include "oracles/machine.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>

const char machine_libunwind_prefix[] = "_ULaarch64_";
const int machine_libunwind_cfa = UNW_AARCH64_CFA;
const uint64_t machine_trampoline_syscall = 4;
/* There is a bit for it (MDSCR_EL1.SS), but only the kernel can set it, for a debugger. */
const bool machine_can_step = false;

static uint64_t return_address;

static void note_return_address(int signo)
{
    (void)signo;
    return_address = (uintptr_t)__builtin_return_address(0);
}

/*
 * The kernel lets every handler return into its vDSO, qemu's user mode into a page of its own. No
 * call says where, but a handler can: its return address, which it has from the kernel.
 */
uint64_t machine_find_trampoline(void)
{
    struct sigaction probe = { .sa_handler = note_return_address }, before;

    if (sigaction(SIGPROF, &probe, &before) != 0)
        return 0;
    raise(SIGPROF);
    sigaction(SIGPROF, &before, NULL);
    return return_address;
}

uint64_t machine_pc(const ucontext_t *uc)
{
    return uc->uc_mcontext.pc;
}

void machine_set_pc(ucontext_t *uc, uint64_t pc)
{
    uc->uc_mcontext.pc = pc;
}

/* Between `paciasp` and `autiasp` its upper bits are not those of an address. */
bool machine_link_is_signed(const ucontext_t *uc)
{
    uint64_t link = uc->uc_mcontext.regs[30];

    return link >> 48 != 0;
}

ucontext_t *machine_signal_context(uint64_t sp)
{
    return (ucontext_t *)(uintptr_t)(sp + sizeof(siginfo_t)); // NOLINT: an address
}

/*
 * No linker writes tables for stubs. What they do to the stack is nothing, and the call left its
 * return address in x30. (The first stub, which binds lazily, pushes two words: LD_BIND_NOW.)
 */
uint64_t machine_leave_stub(ucontext_t *uc)
{
    uint64_t ra = uc->uc_mcontext.regs[30];

    uc->uc_mcontext.pc = ra - 4; /* and not behind the call: that may be another function */
    return ra;
}

void machine_step(ucontext_t *uc, bool on)
{
    (void)uc;
    (void)on;
}

bool machine_is_stepped(const ucontext_t *uc)
{
    (void)uc;
    return false;
}
