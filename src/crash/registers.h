/* The machine's part of the handler: registers of a signal's context. */
#ifndef SFB_CRASH_REGISTERS_H
#define SFB_CRASH_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

/* The interrupted stack pointer. */
uint64_t sfb_crash_sp(const void *ucontext);

/*
 * A filter (SECCOMP_RET_TRAP) answered a system call with this signal: makes that call return -ENOSYS,
 * as if the filter had returned the error.
 */
void sfb_crash_refuse_call(void *ucontext);

/*
 * Ends the process without a system call: by an instruction that raises a signal, with sp where the
 * kernel has no room for a signal frame.
 *
 * @param stack  start of the alternate stack that this runs on; 0: it is on another stack
 */
_Noreturn void sfb_crash_end(uint64_t stack);

/* A register of a signal's context. */
struct sfb_crash_register {
    const char *name; /* as in assembly; NULL: there is no such number */
    uint64_t value;
};

enum { SFB_CRASH_REGISTERS_MAX = 40 };

/* @param number   from 0 on, less than SFB_CRASH_REGISTERS_MAX; in the order of the report
 * @param ucontext of an SA_SIGINFO handler */
struct sfb_crash_register sfb_crash_register(const void *ucontext, unsigned number);

#endif
