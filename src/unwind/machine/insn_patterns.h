/* Code that is known by its instructions: where no table covers it, or a wrong one. */
#ifndef SFB_UNWIND_MACHINE_INSN_PATTERNS_H
#define SFB_UNWIND_MACHINE_INSN_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/walk.h"

/*
 * Finds the rule of an interrupted linkage stub by its code, where linkers write no table for it.
 *
 * @return whether the code at pc is one
 */
bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out);

/*
 * Finds the rule of a frame whose code is known by its instructions, because its table is wrong.
 *
 * @param pc  of the frame, or its return address
 * @return SFB_OK, SFB_NO_CODE_PATTERN; SFB_NO_REGISTER: it is known, and has no caller that could be found
 */
enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out);

/* @return bytes of the instruction at pc if it is one that assemblers pad code with, else 0 */
uint64_t sfb_arch_nop_size(struct sfb_memory *code, uint64_t pc);

/*
 * Guesses the rule of a frame that no table covers: that of a function which keeps a frame pointer,
 * or, where the code at the pc of an interrupted one shows that its frame is not made, or no more,
 * that of its caller's frame.
 */
struct sfb_rule sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, enum sfb_frame_kind kind);

/* @return whether the code before ra is a call, which returns to it */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra);

/*
 * @param start  of the function that pc is in
 * @return whether fp leads to the function's own frame record at pc, by its code
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc);

#endif
