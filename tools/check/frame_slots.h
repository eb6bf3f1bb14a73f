/* The words of a frame that are remembered, for instructions and for rows. */
#ifndef CHECK_FRAME_SLOTS_H
#define CHECK_FRAME_SLOTS_H

#include "frame_state.h"

/* Somebody writes to [at, at + size), counted from the CFA. */
void state_overwrite(struct frame_state *s, int64_t at, int64_t size);

/* What a callee finds below sp is its own. */
void state_forget_below(struct frame_state *s, int64_t sp);

/*
 * Remembers the word at `at`. Only what rows speak of is worth a slot, and places in the frame, from
 * which sp or fp may be loaded.
 */
void state_remember(struct frame_state *s, const struct machine *m, int64_t at,
                    const struct value *v);

#endif
