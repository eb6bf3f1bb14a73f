/* Habits of compilers and assembly that look like a wrong row and are correct. */
#ifndef TOOLCHAIN_CHECK_CODE_HABITS_H
#define TOOLCHAIN_CHECK_CODE_HABITS_H

#include "toolchain/check/code.h"

/* The row counts from fp, which has been restored before a return. */
bool code_is_epilogue(const struct code_function *u, size_t at, const struct frame_state *s,
                      const struct sfb_rule *r);

/* The row was right until now, and is again a few instructions later. */
bool code_is_brief(const struct code_function *u, size_t at, const struct frame_state *s,
                   const struct code_row *row);

/* The row is a few instructions behind the one that frees the stack, and the next row is right. */
bool code_is_late(const struct code_function *u, size_t at, const struct frame_state *s,
                  const struct code_row *row);

/* The last entry of a linkage table, which differs: ld puts the resolver of TLS descriptors there. */
bool code_is_last_entry(const struct code_function *u, size_t at);

/* The code pops more than its own frame, or returns with a byte count. */
bool code_plays_tricks(const struct code_function *u, size_t at, const struct frame_state *s);

/* A branch that guards a jump table, and may lead anywhere. */
bool code_guards_table(const struct code_function *u, size_t at);

/* Records where an instruction saves fp. */
void code_note_save(struct code_function *u, const struct insn *i, const struct frame_state *s);

/* Whether the prologue saves fp elsewhere than a row says. */
bool code_is_saved_elsewhere(const struct code_function *u, const struct frame_state *s,
                             const struct sfb_rule *r);

#endif
