/* What compilers do, and assembly, that looks like a fault of a row and is none. */
#ifndef CHECK_CODE_HABITS_H
#define CHECK_CODE_HABITS_H

#include "code.h"

/* The row counts from fp, which has been restored in front of a return. */
bool code_is_epilogue(const struct code_function *u, size_t at, const struct frame_state *s,
                      const struct sfb_rule *r);

/* The row was right until now, and is again a few instructions later. */
bool code_is_brief(const struct code_function *u, size_t at, const struct frame_state *s,
                   const struct code_row *row);

/* The code takes away more than its own frame, or returns by a number of bytes. */
bool code_plays_tricks(const struct code_function *u, size_t at, const struct frame_state *s);

/* A branch that may lead to any place. */
bool code_guards_table(const struct code_function *u, size_t at);

/* Writes down where fp is saved, behind an instruction. */
void code_note_save(struct code_function *u, const struct insn *i, const struct frame_state *s);

/* Whether the beginning of the function saves fp elsewhere than a row says. */
bool code_is_saved_elsewhere(const struct code_function *u, const struct frame_state *s,
                             const struct sfb_rule *r);

#endif
