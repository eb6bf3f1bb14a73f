/* Recognises code by its instructions, where its table is missing or wrong. */
#ifndef SFB_UNWIND_MACHINE_INSN_PATTERNS_H
#define SFB_UNWIND_MACHINE_INSN_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/walk.h"

/*
 * Finds the rule of an interrupted linkage stub by its code. For stubs without a table from the linker.
 *
 * @return whether the code at pc is such a stub
 */
bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out);

/*
 * Finds the rule of a frame by its code, if the code matches a pattern with a wrong table.
 *
 * @param pc  of the frame, or its return address
 * @return SFB_OK, SFB_NO_CODE_PATTERN; SFB_NO_REGISTER: it matches, but its caller cannot be found
 */
enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out);

/* @return bytes of the instruction at pc if assemblers pad code with it, else 0 */
uint64_t sfb_arch_nop_size(struct sfb_memory *code, uint64_t pc);

/*
 * Tells whether the instruction at an interrupted pc overrides any table: it only runs when the return address
 * lies at sp, and the word there lies behind a call.
 */
bool sfb_arch_returns_at_sp(struct sfb_memory *code, struct sfb_memory *stack,
                            const struct sfb_regs *regs);

/*
 * Tells whether the instruction at the pc is a `ret` that may be a jump: the code may have pushed or written the word at sp
 * for it. Not if the instruction before has raised sp: then the word at sp is the return address.
 */
bool sfb_arch_may_jump_by_return(struct sfb_memory *code, uint64_t pc);

/* @return whether the instruction only runs when the return address lies at sp: then its table's rule must not be cached */
bool sfb_arch_runs_at_return(struct sfb_memory *code, uint64_t pc);

/*
 * Tells whether only the end of a function is left to run at an interrupted pc: it sets sp, pops registers other than
 * fp, and returns or jumps to another function. There fp is already the caller's, whatever the row states.
 *
 * @param sp_set  the row's CFA is based on sp
 */
bool sfb_arch_has_restored_fp(struct sfb_memory *code, uint64_t pc, bool sp_set);

/* The rule of a frame with its return address at sp. (Apart: so it is not on the stack while code is read.) */
struct sfb_rule sfb_arch_rule_at_sp(void);

/* @return whether the call before a return address names the function it calls, less than 16 MiB away */
bool sfb_arch_is_direct_call(struct sfb_memory *code, uint64_t ra);

/*
 * Finds the first direct jump in [at, end) to an address in [lo, hi). Bytes within an instruction may look like one: the caller
 * judges the target.
 *
 * @param target  written if there is one
 *
 * @return the jump's address; 0: not found, on AArch64 always
 */
uint64_t sfb_arch_find_jump(struct sfb_memory *code, uint64_t at, uint64_t end, uint64_t lo,
                            uint64_t hi, uint64_t *target);

/* Most instructions that sfb_arch_is_leaving() reads. */
enum { SFB_ARCH_LEAVING_WORK = 256 };

/*
 * Tells whether a function of the unwinder may have begun to return to another frame than its caller. Then it overwrites
 * its saved registers with that frame's.
 *
 * @param pc  of the frame, or its return address; in a function with rows that have SFB_RULE_EH_RETURN
 * @return false: it has certainly not begun
 */
bool sfb_arch_is_leaving(struct sfb_memory *code, uint64_t pc);

/* Basis of a guess, the most reliable first. */
enum sfb_guess {
    SFB_GUESS_BY_CODE,   /* the instructions at the pc say where the return address is */
    SFB_GUESS_BY_RECORD, /* fp leads to a record, perhaps another frame's */
    SFB_GUESS_AT_SP      /* the word at sp lies behind a call, but may be left from an old frame */
};

/*
 * Guesses the rule of a frame that no table covers. As a rule, the rule of a function with a frame
 * pointer. But the code at an interrupted pc, or the word at its sp, may show that the frame is not made
 * yet or already gone. Then its return address is near sp, and fp is still the caller's, or just pushed.
 *
 * @param in_module  the pc lies in a module
 */
enum sfb_guess sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                              const struct sfb_regs *regs, enum sfb_frame_kind kind, bool in_module,
                              struct sfb_rule *out);

/*
 * Follows the code of a function from a pc on to its return.
 *
 * @param calls_return  assumes that called functions return, unchecked: then the result is unproven
 * @param work  most instructions to read
 * @param out   written on true: places of the return address and of the caller's fp, as offsets from sp
 * @return whether the code shows both
 */
bool sfb_arch_follow_to_return(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, bool calls_return, uint32_t work,
                               struct sfb_rule *out);

/* @return whether a call ends right before ra */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra);

/*
 * @param start  of the pc's function
 * @return whether its code shows that fp leads to its own frame record at pc
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc);

#endif
