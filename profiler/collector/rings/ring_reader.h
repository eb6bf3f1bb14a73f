/* A thread in the recording: its beginning, the records of its ring, its end. */
#ifndef PROFILER_COLLECTOR_RINGS_RING_READER_H
#define PROFILER_COLLECTOR_RINGS_RING_READER_H

#include "profiler/collector/rings/slots.h"

/*
 * Begins the threads that have taken a ring, if their process has begun.
 *
 * @param all  also reads slots beyond the last one used: reading allocates their pages
 */
void sfb_recorder_rings_begin(struct sfb_recorder_drain *drain, bool all);

/*
 * Reads the records of all rings up to their heads.
 *
 * A record's stack may be in another ring, published there earlier. So rings are read in passes until no stack is missing
 * that can still come.
 *
 * @param process  only rings of this slot; SFB_SHARED_PROCESS_MAX: all
 */
void sfb_recorder_rings_read(struct sfb_recorder_drain *drain, uint32_t process);

/*
 * Writes a function of Python, unless the recording has it.
 *
 * @param record  a copy, beginning with struct sfb_shared_code whose head is not read
 * @return its fault; NULL: no fault
 */
const char *sfb_recorder_take_code(struct sfb_recorder_drain *drain, uint32_t slot,
                                   const uint8_t *record, size_t size);

/* Writes the thread's end, and frees its slot. */
void sfb_recorder_ring_end(struct sfb_recorder_drain *drain, uint32_t slot);

/* After a process's exit: frees a ring that it had only claimed. */
void sfb_recorder_ring_unclaim(struct sfb_recorder_drain *drain, uint32_t slot, uint32_t process,
                               uint32_t pid);

/* Notes what threads and processes have used when the recording is paused, or goes on: what they use meanwhile is in no sample. */
void sfb_recorder_rings_pause(struct sfb_recorder_drain *drain, bool paused);

#endif
