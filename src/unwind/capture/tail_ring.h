/*
 * The outermost frames, kept at the far end of the caller's buffer until the walk ends.
 *
 * Which frames are the outermost is known only when there are no more; there is no heap to keep
 * them in, and the stack is bounded. So the last `capacity` frames go round in a ring of 9-byte
 * entries at the end of the buffer, and are encoded from there in the end. An entry is as large as
 * the largest encoded frame, so the encoder, which works towards the ring, never reaches an entry
 * that was not taken out yet.
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

/* What is kept of a frame. */
struct sfb_tail_frame {
    uint64_t address;
    enum sfb_frame_kind kind;
    enum sfb_source source;
};

/*
 * Takes room for up to `wanted` frames from the end of a buffer, but no more than half of it.
 *
 * @return bytes of the buffer that are left for the inner frames
 */
size_t sfb_tail_ring_init(struct sfb_tail_ring *out, uint8_t *buffer, size_t size, size_t wanted);

/* Keeps a frame; the oldest goes if the ring is full. */
void sfb_tail_ring_push(struct sfb_tail_ring *outer, enum sfb_frame_kind kind,
                        enum sfb_source source, uint64_t address);

/* @return the frames that are still there: the last ones pushed */
size_t sfb_tail_ring_kept(const struct sfb_tail_ring *outer);

/* Brings the entries into order, innermost first; once, before sfb_tail_ring_get(). */
void sfb_tail_ring_linearise(struct sfb_tail_ring *outer);

struct sfb_tail_frame sfb_tail_ring_get(const struct sfb_tail_ring *outer, size_t index);

#endif
