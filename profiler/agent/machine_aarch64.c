#include "profiler/agent/machine.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

const enum sfb_abi sfb_machine_abi = SFB_ABI_AARCH64_LE;

/* No word there identifies its owner. */
bool sfb_machine_is_libc_thread(void)
{
    return __builtin_thread_pointer() != NULL;
}

/* The code's page may be unreadable: the kernel reads it. */
bool sfb_machine_is_behind_call(const void *context)
{
    static const uint32_t svc = 0xd4000001;
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    uint32_t code = 0;
    const struct iovec own = { &code, sizeof code },
                       at = { (void *)(uintptr_t)(machine->pc - sizeof code), sizeof code };

    return syscall(SYS_process_vm_readv, getpid(), &own, 1, &at, 1, 0) == (long)sizeof code &&
           code == svc;
}

bool sfb_machine_has_unblocked(const void *context)
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;

    return machine->regs[8] == SYS_rt_sigprocmask && machine->regs[0] == 0;
}

/* The result has overwritten the first argument. */
enum sfb_machine_call sfb_machine_restart_call(void *context)
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;

    return machine->regs[0] == (uint64_t)-EINTR && sfb_machine_is_behind_call(context)
               ? SFB_CALL_INTERRUPTED
               : SFB_CALL_UNHARMED;
}
