/*
 * What threads publish of their heaps, from their rings to the recorder's own memory.
 *
 * A thread of its own empties rings as they fill: threads of the program are not to wait for what is done with their
 * events. It copies, and does no more, so that the system lets it run soon.
 */
#ifndef RECORDER_HEAP_INTAKE_H
#define RECORDER_HEAP_INTAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/shared.h"

/*
 * That reading is behind by so many bytes is memory here; beyond, threads wait until their ring is read. Then all of it is
 * taken out, whatever is behind: what a thread has published is not read after the younger events of others.
 */
#define SFB_HEAP_BEHIND_MAX ((size_t)256 << 20)

struct sfb_heap_intake_ring {
    bool taken_in;
    bool bad;          /* its positions contradicted each other */
    uint64_t tail;     /* copied up to here */
    uint64_t position; /* of the first byte here */
    uint8_t *bytes;
    size_t size, room;
    size_t most; /* bytes that were found at once */
};

struct sfb_heap_intake {
    struct sfb_shared *shared;
    uint32_t ring_bytes;
    pthread_mutex_t lock; /* of what follows */
    struct sfb_heap_intake_ring ring[SFB_SHARED_RING_MAX];
    uint32_t ring_end; /* behind the last that was taken in */
    size_t behind;     /* bytes of all rings that are here, or are being read */
    pthread_t thread;
    bool running, ends;
    uint32_t woken; /* futex: how often agents have woken it */
};

/* @param own_thread  rings are emptied as they fill */
void sfb_heap_intake_open(struct sfb_heap_intake *intake, struct sfb_shared *shared,
                          uint32_t ring_bytes, bool own_thread);

/* A ring is used, is used no longer. */
void sfb_heap_intake_begin(struct sfb_heap_intake *intake, uint32_t slot);
void sfb_heap_intake_end(struct sfb_heap_intake *intake, uint32_t slot);

/*
 * Whether a thread is about to publish an event: one that is older than this look may come. What is published behind a
 * look that says no was not begun before it.
 */
bool sfb_heap_intake_is_busy(const struct sfb_heap_intake *intake, uint32_t slot);

/*
 * Takes out all that a thread has published.
 *
 * @param out  empty memory for what comes next, which is exchanged; what is taken out is in it then
 * @param whole  written: whether that is all; else there was no memory, and what is left is no older than what was taken out
 * @return false: its positions contradict each other; nothing is taken out
 */
bool sfb_heap_intake_take(struct sfb_heap_intake *intake, uint32_t slot,
                          struct sfb_heap_intake_ring *out, bool *whole);

/* Whether a thread has published nothing that was not taken out. */
bool sfb_heap_intake_is_empty(struct sfb_heap_intake *intake, uint32_t slot);

/* So many bytes were read. */
void sfb_heap_intake_read(struct sfb_heap_intake *intake, size_t size);

/* Waits until an agent has woken the intake, or the time is up. @return whether a signal came */
bool sfb_heap_intake_wait(const struct sfb_heap_intake *intake, uint32_t seen, uint64_t ns);

void sfb_heap_intake_close(struct sfb_heap_intake *intake);

#endif
