/* The machine's part of the handler: registers of a signal's context. */
#ifndef SFB_CRASH_REGISTERS_H
#define SFB_CRASH_REGISTERS_H

#include <stdint.h>

#include "crash/text.h"

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

/* Writes "register rip 0x401136", a line each. ucontext: of an SA_SIGINFO handler */
void sfb_crash_registers(struct sfb_text *text, const void *ucontext);

static inline void sfb_crash_register(struct sfb_text *text, const char *name, uint64_t value)
{
    sfb_text_string(text, "register ");
    sfb_text_string(text, name);
    sfb_text_char(text, ' ');
    sfb_text_hex(text, value);
    sfb_text_char(text, '\n');
}

#endif
