/*
 * The walker's interface to an architecture. Each has inline_<name>.h (constants, and code that the walk
 * inlines) and arch_<name>.c; insn_patterns.h recognises code by its instructions. All of it is C that
 * any machine can run. Only this header chooses: the compiler's own architecture, or, for a walk over
 * another machine's stacks, SFB_MACHINE_X86_64 or SFB_MACHINE_AARCH64.
 *
 * native.h, native_<name>.c and entry_<name>.S run on the machine itself.
 */
#ifndef SFB_UNWIND_MACHINE_ARCH_H
#define SFB_UNWIND_MACHINE_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every inline_<name>.h defines:
 *
 *     SFB_ARCH_ABI             the ABI of sections for this machine's code
 *     SFB_ARCH_PC, _SP, _FP    DWARF numbers of these registers
 *     SFB_ARCH_RA              DWARF number of the return address column in CFI
 *     SFB_ARCH_LR              true where a call leaves the return address in a register
 *     SFB_ARCH_SETCONTEXT_CFI_IS_WRONG  glibc's tables of setcontext() and the like use the context,
 *                              the first argument, as the CFA: docs/QUIRKS.md
 *     SFB_ARCH_FRAME_RECORDS   true where the ABI requires frame records of all code. Then fp is also
 *                              used where a table covers the pc and does not help
 *     SFB_ARCH_SWIFT_CONTEXT   DWARF number of the register with the context of an async function
 *     SFB_ARCH_ENTRY_SIZE      how far behind an entry point its code may reach;
 *                              sfb_arch_is_outermost() is asked only there
 *     SFB_ARCH_PC_SHIFT        low bits of a pc that carry no information
 *     SFB_ARCH_PC_BITS         bits of a pc in user space
 *     SFB_ARCH_CODE_MASK       bits of an address of code: the others authenticate it
 *     SFB_ARCH_DATA_MASK       bits of an address of data: the others are a tag
 *     SFB_ARCH_LIBUNWIND       the library that unwinds this machine's frames
 *
 *     sfb_arch_regs()                      the registers that tables track, out of all
 *     sfb_arch_pack(), sfb_arch_unpack()   most rules, in 64 - SFB_ARCH_PC_BITS bits, never all 0
 *     sfb_arch_follow()                    executes a packed rule
 */
#include "sfb/context.h"

#if SFB_CONTEXT_X86_64
#include "unwind/machine/inline_x86_64.h"
#elif SFB_CONTEXT_AARCH64
#include "unwind/machine/inline_aarch64.h"
#endif

#include "sfb/walk.h"

/* The opposite: a context in which only the registers that tables track are known. */
void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs);

/* @return whether the code at pc is (the rest of) a signal trampoline */
bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc);

/*
 * Reads the registers that the kernel saved for a signal handler.
 *
 * @param sp  stack pointer at the trampoline
 * @return SFB_OK, SFB_MISALIGNED, SFB_UNREADABLE
 */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp);

/*
 * @return whether a frame without a table is outermost, because the process began there: in the
 *         program's `_start`, by its code, or in the dynamic loader's, which has no table
 */
bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind);

#endif
