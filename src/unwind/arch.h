/*
 * What an architecture is to the walker. One arch_*.c implements it; the walker has no #ifdef.
 */
#ifndef SFB_UNWIND_ARCH_H
#define SFB_UNWIND_ARCH_H

#include <stdbool.h>

#include "sfb/walk.h"

/* The ABI whose sections describe this machine's code. */
enum { SFB_ARCH_ABI = SFB_ABI_AMD64_LE };

/* How far behind an entry point its code may reach; sfb_arch_is_outermost() is asked only there. */
enum { SFB_ARCH_ENTRY_SIZE = 64 };

/* Picks the registers that tables track out of all. */
void sfb_arch_regs(struct sfb_regs *out, const struct sfb_context *context);

/* The opposite: a context in which nothing but pc, sp and fp is known. */
void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs);

/* @return whether the code at pc is (the rest of) a signal trampoline */
bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc);

/*
 * Reads the registers that the kernel saved where a handler's trampoline finds them.
 *
 * @param sp  stack pointer at the trampoline
 * @return SFB_OK, SFB_MISALIGNED, SFB_UNREADABLE
 */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp);

/*
 * @return whether a frame without a table is where this process began, and so has no caller: the
 *         program's `_start`, by its code, or the dynamic loader's, which has no table at all
 */
bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind);

#endif
