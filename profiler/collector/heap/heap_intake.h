/*
 * Moves the records that threads publish of their heaps from their rings to the recorder's own memory.
 *
 * A thread of its own empties rings as they fill, so that the program's threads need not wait while their events are
 * processed. It only copies, so that the scheduler runs it soon.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_INTAKE_H
#define PROFILER_COLLECTOR_HEAP_HEAP_INTAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/shared.h"

/*
 * Bytes copied but not yet read. Beyond this limit, threads wait until their ring is read. Then all of the ring is taken
 * out regardless of the limit: records of a thread must not be read after younger events of others.
 */
#define SFB_HEAP_BEHIND_MAX ((size_t)256 << 20)

struct sfb_heap_intake_ring {
    bool taken_in;
    bool bad;          /* head and tail contradicted each other */
    uint64_t tail;     /* copied up to here */
    uint64_t position; /* of the first byte in `bytes` */
    uint8_t *bytes;
    size_t size, room;
    size_t most; /* most bytes found at once */
};

struct sfb_heap_intake {
    struct sfb_shared *shared;
    uint32_t ring_bytes;
    pthread_mutex_t lock; /* guards what follows */
    struct sfb_heap_intake_ring ring[SFB_SHARED_RING_MAX];
    uint32_t ring_end; /* after the last ring in use */
    size_t behind;     /* bytes of all rings that are copied or being read */
    pthread_t thread;
    bool running, ends;
    uint32_t woken; /* futex: counts wake-ups by agents */
};

/* @param own_thread  a thread of its own empties the rings */
void sfb_heap_intake_open(struct sfb_heap_intake *intake, struct sfb_shared *shared,
                          uint32_t ring_bytes, bool own_thread);

/* A ring is used from now on; end: no longer. */
void sfb_heap_intake_begin(struct sfb_heap_intake *intake, uint32_t slot);
void sfb_heap_intake_end(struct sfb_heap_intake *intake, uint32_t slot);

/*
 * Whether a thread is about to publish an event, which may be older than this look. After false, later records were begun
 * after the look.
 */
bool sfb_heap_intake_is_busy(const struct sfb_heap_intake *intake, uint32_t slot);

/*
 * Takes out all records that a thread has published.
 *
 * @param out  in: empty memory for the next records, which is swapped in; out: the records
 * @param whole  written: whether these are all records; false: no memory, and the rest is not older than the records
 *             taken
 * @return false: head and tail contradict each other; nothing is taken out
 */
bool sfb_heap_intake_take(struct sfb_heap_intake *intake, uint32_t slot,
                          struct sfb_heap_intake_ring *out, bool *whole);

/* Whether all published records of a thread were taken out. */
bool sfb_heap_intake_is_empty(struct sfb_heap_intake *intake, uint32_t slot);

/* Reports that so many bytes were read. */
void sfb_heap_intake_read(struct sfb_heap_intake *intake, size_t size);

/* Waits until an agent has woken the intake, or ns have passed. @return whether a signal arrived */
bool sfb_heap_intake_wait(const struct sfb_heap_intake *intake, uint32_t seen, uint64_t ns);

void sfb_heap_intake_close(struct sfb_heap_intake *intake);

#endif
