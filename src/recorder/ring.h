/* A thread: its beginning, the records of its ring, its end. */
#ifndef RECORDER_RING_H
#define RECORDER_RING_H

#include "recorder/slots.h"

/*
 * Takes slots in which threads of processes are that have begun.
 *
 * @param all  also behind the last one that was ever taken: their pages are memory once they were looked at
 */
void sfb_recorder_rings_begin(struct sfb_recorder_drain *drain, bool all);

/*
 * Reads the records of all rings up to their heads.
 *
 * A stack that a record names may be in another ring, where it was published before. Rings are read in turn until nothing
 * is missing that can come.
 *
 * @param process  only those of this slot; SFB_SHARED_PROCESS_MAX: all
 */
void sfb_recorder_rings_read(struct sfb_recorder_drain *drain, uint32_t process);

/* Writes the end of the thread, and makes the slot free. */
void sfb_recorder_ring_end(struct sfb_recorder_drain *drain, uint32_t slot);

/* A process has ended: a slot that it claimed, and no more, is free. */
void sfb_recorder_ring_unclaim(struct sfb_recorder_drain *drain, uint32_t slot, uint32_t process,
                               uint32_t pid);

#endif
