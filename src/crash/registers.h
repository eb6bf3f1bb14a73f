/* All registers of a signal's context, by the names that assembly has for them. */
#ifndef SFB_CRASH_REGISTERS_H
#define SFB_CRASH_REGISTERS_H

#include "crash/text.h"

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
