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
    const struct user_regs_struct *r = &tracee->raw;

    /* By DWARF number: psABI, "DWARF Register Number Mapping". */
    *out = (struct sfb_context){ .reg = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp,
                                          r->rsp, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13,
                                          r->r14, r->r15, r->rip },
                                 .valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1 };
}

bool remote_tracee_was_interrupted(const struct remote_tracee *tracee)
{
    return (int64_t)tracee->raw.orig_rax >= 0 && (int64_t)tracee->raw.rax == -EINTR;
}

bool remote_tracee_issue_again(struct remote_tracee *tracee, uint64_t first)
{
    static const uint8_t call[] = { 0x0f, 0x05 }; /* syscall */
    struct iovec from = { &tracee->raw, sizeof tracee->raw };
    uint8_t code[sizeof call];

    (void)first;
    if (remote_memory_read(tracee->tid, tracee->raw.rip - sizeof call, code, sizeof code) !=
            sizeof code ||
        memcmp(code, call, sizeof call) != 0)
        return false;
    tracee->raw.rip -= sizeof call;
    tracee->raw.rax = tracee->raw.orig_rax;
    return ptrace(PTRACE_SETREGSET, tracee->tid, (void *)NT_PRSTATUS, &from) == 0;
}
