/*
 * The records of a thread's ring that are not yet in their order: a copy of what the thread has published, so that its
 * ring is empty again at once. The copy is judged.
 */
#ifndef RECORDER_HEAP_RING_H
#define RECORDER_HEAP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/heap_intake.h"
#include "recorder/heap_thread.h"

struct sfb_heap_ring {
    struct sfb_heap_thread thread;
    uint8_t *bytes;
    size_t from, size, room; /* those from `from` to `size` are to be read */
    uint8_t *spare;          /* memory for what comes next */
    size_t spare_room;
    uint64_t position;       /* of the one at `from`, in bytes since the ring began */
    uint64_t time;           /* of the last record that was read */
    const char *wrong;       /* what was wrong; NULL: nothing */
    const char *untold_text; /* what was wrong with so many records, and is not yet in the file */
    uint64_t untold;
};

enum {
    SFB_HEAP_RING_WORDS = 4 /* of a record without its stack */
};

struct sfb_heap_record {
    uint64_t time;
    uint32_t kind; /* enum sfb_shared_heap_record */
    size_t size;   /* bytes */
    uint64_t words[SFB_HEAP_RING_WORDS];
    const uint8_t *stack; /* of a STACK: its CBF */
    size_t stack_size;
};

/*
 * Appends what the thread has published.
 *
 * @param whole  written: whether that is all (sfb_heap_intake_take())
 * @return bytes that are to be read no more: all that were there, where its positions contradict each other
 */
size_t sfb_heap_ring_fill(struct sfb_heap_ring *ring, struct sfb_heap_intake *intake, uint32_t slot,
                          size_t *most, bool *whole);

/*
 * Decodes the next record, and leaves it there.
 *
 * @param ring_bytes  of the shared ring: no record lies across its end
 * @param latest      no time is later: one that is does not count
 * @return false: there is none. What cannot be decoded is dropped up to the end: ring->wrong says why.
 */
bool sfb_heap_ring_peek(struct sfb_heap_ring *ring, struct sfb_heap_record *out,
                        uint32_t ring_bytes, uint64_t latest);

/* Goes on behind it. */
void sfb_heap_ring_pass(struct sfb_heap_ring *ring, const struct sfb_heap_record *record);

void sfb_heap_ring_free(struct sfb_heap_ring *ring);

#endif
