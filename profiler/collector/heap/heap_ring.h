/*
 * The records of a thread's ring that are not yet replayed: a copy, so that the ring is empty again at once. Only the
 * copy is checked.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_RING_H
#define PROFILER_COLLECTOR_HEAP_HEAP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/collector/heap/heap_intake.h"
#include "profiler/collector/heap/heap_thread.h"

struct sfb_heap_ring {
    struct sfb_heap_thread thread;
    uint8_t *bytes;
    size_t from, size, room; /* unread: [from, size) */
    size_t ahead;            /* sfb_heap_ring_ahead() has seen the records before it */
    uint8_t *spare;          /* memory for the next records */
    size_t spare_room;
    uint64_t position;           /* of `from`, in bytes since the ring began */
    uint64_t time;               /* of the last record read */
    const char *wrong;           /* the last fault; NULL: no fault */
    const char *unreported_text; /* fault of that many records, not yet in the file */
    uint64_t unreported;
};

enum {
    SFB_HEAP_RING_WORDS = 4 /* of a record without its stack */
};

struct sfb_heap_record {
    uint64_t time;
    uint32_t kind; /* enum sfb_shared_heap_record */
    size_t size;   /* in bytes */
    uint64_t words[SFB_HEAP_RING_WORDS];
    const uint8_t *stack; /* CBF of a record of kind STACK */
    size_t stack_size;
    const uint8_t *calls; /* of the same: call_count times struct sfb_shared_call */
    size_t call_count;
    const uint8_t *whole; /* a record of kind CODE from its first byte on */
};

/*
 * Appends the records that the thread has published.
 *
 * @param whole  written: whether these are all records (sfb_heap_intake_take())
 * @return bytes dropped: all unread ones if head and tail contradict each other
 */
size_t sfb_heap_ring_fill(struct sfb_heap_ring *ring, struct sfb_heap_intake *intake, uint32_t slot,
                          size_t *most, bool *whole);

/*
 * Decodes the next record without removing it.
 *
 * @param ring_bytes  of the shared ring: no record crosses its end
 * @param latest      later times are impossible and ignored
 * @return false: no record. After an undecodable one, the rest is dropped; ring->wrong says why.
 */
bool sfb_heap_ring_peek(struct sfb_heap_ring *ring, struct sfb_heap_record *out,
                        uint32_t ring_bytes, uint64_t latest);

/* Removes the record. */
void sfb_heap_ring_pass(struct sfb_heap_ring *ring, const struct sfb_heap_record *record);

/*
 * Looks at the records to come, each once, some dozens before it is read: so that what belongs to it can be fetched from
 * memory meanwhile. None of its bytes is checked yet.
 *
 * @param pointer  written: the record's address; of a record without an address, other bytes of it
 * @return false: none as near
 */
bool sfb_heap_ring_ahead(struct sfb_heap_ring *ring, uint64_t *pointer);

void sfb_heap_ring_free(struct sfb_heap_ring *ring);

#endif
