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
 * Whether the instruction at the pc of an interrupted frame says more than any table: it only runs when
 * the return address lies at sp, and the word there lies behind a call.
 */
bool sfb_arch_returns_at_sp(struct sfb_memory *code, struct sfb_memory *stack,
                            const struct sfb_regs *regs);

/*
 * Whether the instruction at the pc is a `ret` that may go to another place than a caller: what it finds at sp was pushed or
 * written for it. It does not if the instruction before has raised sp: that one uncovered the return address.
 */
bool sfb_arch_may_jump_by_return(struct sfb_memory *code, uint64_t pc);

/* @return whether the instruction is one of those: then no rule that a table has for it is to be remembered */
bool sfb_arch_runs_at_return(struct sfb_memory *code, uint64_t pc);

/*
 * Whether nothing but the end of a function lies before an interrupted pc: sp is set, registers other than fp are
 * popped, and it returns, or jumps to another function. There fp is the caller's already, whatever its row says.
 *
 * @param sp_set  the row counts the CFA from sp
 */
bool sfb_arch_has_restored_fp(struct sfb_memory *code, uint64_t pc, bool sp_set);

/* The rule of a frame whose return address lies at sp. (Apart: while code is read it would be on the stack.) */
struct sfb_rule sfb_arch_rule_at_sp(void);

/* Instructions that sfb_arch_is_leaving() reads at most. */
enum { SFB_ARCH_LEAVING_WORK = 256 };

/*
 * Whether a function of the unwinder may have begun to return to another frame than its caller: it writes that frame's
 * registers over those that it has saved.
 *
 * @param pc  of the frame, or its return address; in a function whose rows have SFB_RULE_EH_RETURN
 * @return false: it has not
 */
bool sfb_arch_is_leaving(struct sfb_memory *code, uint64_t pc);

/* How well a guess is founded. */
enum sfb_guess {
    SFB_GUESS_BY_CODE,   /* the instructions at the pc say where the return address is */
    SFB_GUESS_BY_RECORD, /* fp leads to a record; nothing says whose it is */
    SFB_GUESS_AT_SP /* the word at sp lies behind a call, and may be left over from an old frame */
};

/*
 * Guesses the rule of a frame that no table covers: that of a function which keeps a frame pointer,
 * or, where the code at the pc of an interrupted one or the word at its sp shows that its frame is not
 * made, or no more, that of its caller's frame.
 *
 * @param in_module  the pc lies in one
 */
enum sfb_guess sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                              const struct sfb_regs *regs, enum sfb_frame_kind kind, bool in_module,
                              struct sfb_rule *out);

/*
 * Follows the code of a function from a pc on to its return.
 *
 * @param calls_return  passes by calls, and does not look whether what they call returns: then nothing is proven
 * @param work  instructions that may be read
 * @param out   written on true: where the return address is, and the caller's fp, counted from sp
 * @return whether the code says it
 */
bool sfb_arch_follow_to_return(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, bool calls_return, uint32_t work,
                               struct sfb_rule *out);

/* @return whether the code before ra is a call, which returns to it */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra);

/*
 * @param start  of the function that pc is in
 * @return whether fp leads to the function's own frame record at pc, by its code
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc);

#endif
