/* x86-64: the layout of registers in ucontext_t, for arch_x86_64.c and native_x86_64.c. */
#ifndef SFB_UNWIND_MACHINE_ARCH_X86_64_H
#define SFB_UNWIND_MACHINE_ARCH_X86_64_H

#include "unwind/machine/arch.h"

/* Offset of the registers, and the index of each by DWARF number. */
enum { SFB_ARCH_GREGS_OFFSET = 40 };
extern const uint8_t sfb_arch_greg[SFB_CONTEXT_REGS] __attribute__((visibility("hidden")));

#endif
