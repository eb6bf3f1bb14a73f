#include "remote/tracee.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "remote/target_memory.h"

bool remote_tracee_read(struct remote_tracee *out, pid_t tid)
{
    struct iovec to = { &out->raw, sizeof out->raw };

    out->tid = tid;
    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &to) != 0)
        return false;
    errno = EINVAL;
    return to.iov_len == sizeof out->raw; /* of a 32-bit program it is shorter */
}

void remote_tracee_registers(struct sfb_context *out, const struct remote_tracee *tracee)
{
    *out = (struct sfb_context){ .valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1 };
    for (unsigned i = 0; i < 31; i++)
        out->reg[i] = tracee->raw.regs[i];
    out->reg[31] = tracee->raw.sp;
    out->reg[32] = tracee->raw.pc;
}

bool remote_tracee_was_interrupted(const struct remote_tracee *tracee)
{
    return (int64_t)tracee->raw.regs[0] == -EINTR;
}

bool remote_tracee_issue_again(struct remote_tracee *tracee, uint64_t first)
{
    static const uint8_t call[] = { 0x01, 0x00, 0x00, 0xd4 }; /* svc #0 */
    struct iovec from = { &tracee->raw, sizeof tracee->raw };
    uint8_t code[sizeof call];

    if (remote_memory_read(tracee->tid, tracee->raw.pc - sizeof call, code, sizeof code) !=
            sizeof code ||
        memcmp(code, call, sizeof call) != 0)
        return false;
    tracee->raw.pc -= sizeof call;
    tracee->raw.regs[0] = first; /* x8 still has the number */
    return ptrace(PTRACE_SETREGSET, tracee->tid, (void *)NT_PRSTATUS, &from) == 0;
}
