/* A frame at an instruction (frame.h), from the instruction before it, or from a row. */
#ifndef TOOLCHAIN_CHECK_FRAME_STATE_H
#define TOOLCHAIN_CHECK_FRAME_STATE_H

#include <sfb/rule.h>

#include "toolchain/check/frame_slots.h"

struct machine machine_of(uint8_t abi);

/* The state at a function's entry. */
void state_enter(struct frame_state *s, const struct machine *m);

/* Takes the row's rule for values that the code leaves unknown. */
void state_from_row(struct frame_state *s, const struct machine *m, const struct sfb_rule *rule);

void state_apply(struct frame_state *s, const struct machine *m, const struct insn *insn);

/*
 * sp is equal to the register that it was compared with: takes its place in the frame.
 *
 * @return false: both places are known, and differ
 */
bool state_equate(struct frame_state *s, const struct machine *m, const struct insn *compared);

/* Merges the states of two paths. @return whether `s` changed */
bool state_meet(struct frame_state *s, const struct frame_state *other);

/* Keeps sp and fp only. */
void state_forget(struct frame_state *s, const struct machine *m);

/* The CFA less a register. @return false: unknown */
bool state_height(const struct frame_state *s, uint8_t reg, int64_t *out);

#endif
