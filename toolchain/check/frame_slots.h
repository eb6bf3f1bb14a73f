/* The words of a frame that are remembered, for instructions and for rows. */
#ifndef TOOLCHAIN_CHECK_FRAME_SLOTS_H
#define TOOLCHAIN_CHECK_FRAME_SLOTS_H

#include "toolchain/check/frame.h"

/* The value of the word at the CFA + at. */
struct value state_slot(const struct frame_state *s, int64_t at);

/* Forgets the words in [at, at + size), counted from the CFA: they are overwritten. */
void state_overwrite(struct frame_state *s, int64_t at, int64_t size);

/* Forgets the words below sp: a callee may overwrite them. */
void state_forget_below(struct frame_state *s, int64_t sp);

/* Forgets frame addresses in the frame's words: a callee may have got a pointer to them. */
void state_forget_addresses(struct frame_state *s);

/*
 * Tracks the word at `at`. Slots are kept for registers that rows describe, and for addresses in
 * the frame, which may be loaded into sp or fp.
 */
void state_remember(struct frame_state *s, const struct machine *m, int64_t at,
                    const struct value *v);

#endif
