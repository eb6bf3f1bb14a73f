/* What the handler has to know of the machine: the registers of a signal's context. */
#ifndef SFB_CRASH_REGISTERS_H
#define SFB_CRASH_REGISTERS_H

#include <stdint.h>

#include "crash/text.h"

/* The interrupted stack pointer. */
uint64_t sfb_crash_sp(const void *ucontext);

/*
 * Has the system call that a filter (SECCOMP_RET_TRAP) answered with this signal return -ENOSYS,
 * as if the filter had said so.
 */
void sfb_crash_refuse_call(void *ucontext);

/*
 * Ends the process without a system call: by an instruction that raises a signal, on a stack that
 * has no room for one more frame.
 *
 * @param stack  where the alternate stack begins that this runs on; 0: it runs on none
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
