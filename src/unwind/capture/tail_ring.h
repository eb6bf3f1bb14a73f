/*
 * The outermost frames, kept at the far end of the caller's buffer until the walk ends.
 *
 * The outermost frames are known only at the end of the walk. No heap may be used, and the stack is
 * bounded. So the last `capacity` frames are kept in a ring of 9-byte entries at the end of the
 * buffer, and encoded from there at the end. An entry is as large as the largest encoded frame. So
 * the encoder, which works towards the ring, never overwrites an entry that it has not read yet.
 */
#ifndef SFB_UNWIND_CAPTURE_TAIL_RING_H
#define SFB_UNWIND_CAPTURE_TAIL_RING_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/frame.h"

struct sfb_tail_ring {
    uint8_t *ring;
    size_t capacity; /* entries */
    uint64_t seen;   /* frames pushed so far */
};

/* An entry of the ring, decoded. */
struct sfb_tail_frame {
    uint64_t address;
    enum sfb_frame_kind kind;
    enum sfb_source source;
};

/*
 * Reserves room for up to `wanted` frames at the end of a buffer, at most half of it.
 *
 * @return bytes of the buffer left for the inner frames
 */
size_t sfb_tail_ring_init(struct sfb_tail_ring *out, uint8_t *buffer, size_t size, size_t wanted);

/* Adds a frame; a full ring evicts the oldest. */
void sfb_tail_ring_push(struct sfb_tail_ring *outer, enum sfb_frame_kind kind,
                        enum sfb_source source, uint64_t address);

/* @return the number of frames in the ring: the last ones pushed */
size_t sfb_tail_ring_kept(const struct sfb_tail_ring *outer);

/* Sorts the entries, innermost first. Called once, before sfb_tail_ring_get(). */
void sfb_tail_ring_linearise(struct sfb_tail_ring *outer);

struct sfb_tail_frame sfb_tail_ring_get(const struct sfb_tail_ring *outer, size_t index);

#endif
