#include "profiler/agent/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

const enum sfb_abi sfb_machine_abi = SFB_ABI_AMD64_LE;

/* By the ABI the first word points to itself; the C library stores the same pointer in the third. */
bool sfb_machine_is_libc_thread(void)
{
    uintptr_t first, third;

    __asm__ volatile("movq %%fs:0, %0\n\tmovq %%fs:16, %1" : "=r"(first), "=r"(third));
    return first != 0 && first == third;
}

/* The code's page may be unreadable: the kernel reads it. */
static bool read_code(void *out, uint64_t at, size_t size)
{
    const struct iovec own = { out, size }, code = { (void *)(uintptr_t)at, size };

    return syscall(SYS_process_vm_readv, getpid(), &own, 1, &code, 1, 0) == (long)size;
}

bool sfb_machine_is_behind_call(const void *context)
{
    static const uint8_t syscall_code[] = { 0x0f, 0x05 };
    const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;
    uint8_t code[sizeof syscall_code];

    return read_code(code, (uint64_t)regs[REG_RIP] - sizeof code, sizeof code) &&
           memcmp(code, syscall_code, sizeof code) == 0;
}

/* The call's number is lost. So: a success, with a `how` and the size of a set as arguments. */
bool sfb_machine_has_unblocked(const void *context)
{
    const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

    return regs[REG_RAX] == 0 && regs[REG_RDI] >= 0 && regs[REG_RDI] <= 2 && regs[REG_R10] == 8;
}

/* Calls that have had no effect when they return EINTR. close() and connect() have had one. */
static bool has_only_waited(uint32_t number)
{
    static const uint16_t numbers[] = {
        SYS_poll,        SYS_ppoll,       SYS_select,  SYS_pselect6,        SYS_recvfrom,
        SYS_recvmsg,     SYS_sendto,      SYS_sendmsg, SYS_accept,          SYS_accept4,
        SYS_epoll_wait,  SYS_epoll_pwait, SYS_semop,   SYS_semtimedop,      SYS_nanosleep,
        SYS_futex,       SYS_pause,       SYS_msgrcv,  SYS_clock_nanosleep, SYS_msgsnd,
        SYS_epoll_pwait2
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/*
 * The result has overwritten the call's number. The number is in the instruction before: "mov $number, %eax", in all of glibc
 * up to 2.40. The arguments are still in their registers.
 */
enum sfb_machine_call sfb_machine_restart_call(void *context)
{
    static const uint8_t move = 0xb8, syscall_code[] = { 0x0f, 0x05 };
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint8_t code[1 + sizeof(uint32_t) + sizeof syscall_code];
    uint32_t number;

    if (regs[REG_RAX] != -EINTR || !sfb_machine_is_behind_call(context))
        return SFB_CALL_UNHARMED;
    if (!read_code(code, (uint64_t)regs[REG_RIP] - sizeof code, sizeof code) || code[0] != move)
        return SFB_CALL_INTERRUPTED;
    memcpy(&number, code + 1, sizeof number);
    if (!has_only_waited(number))
        return SFB_CALL_INTERRUPTED;
    regs[REG_RAX] = number;
    regs[REG_RIP] -= (greg_t)sizeof syscall_code;
    return SFB_CALL_RESTARTED;
}
