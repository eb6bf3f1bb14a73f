/* A thread: its beginning, the records of its ring, its end. */
#ifndef RECORDER_RING_H
#define RECORDER_RING_H

#include "recorder/slots.h"

/* A slot that nobody has: takes it if a thread of a process that has begun is in it. */
void sfb_recorder_ring_begin(struct sfb_recorder_drain *drain, uint32_t slot);

/*
 * Reads records up to head.
 *
 * @return whether it went to head; else a stack is missing, which another ring may have: read those, and come again
 */
bool sfb_recorder_ring_read(struct sfb_recorder_drain *drain, uint32_t slot);

/* Writes the end of the thread, and makes the slot free. */
void sfb_recorder_ring_end(struct sfb_recorder_drain *drain, uint32_t slot);

/* A process has ended: a slot that it claimed, and no more, is free. */
void sfb_recorder_ring_unclaim(struct sfb_recorder_drain *drain, uint32_t slot, uint32_t process,
                               uint32_t pid);

#endif
