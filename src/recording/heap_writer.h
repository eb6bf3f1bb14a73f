/* The events and sums of the heap, as they are written. */
#ifndef SFB_RECORDING_HEAP_WRITER_H
#define SFB_RECORDING_HEAP_WRITER_H

#include "recording/writer_blocks.h"

/* Writes the events that are in memory, of a process or of all (0). */
enum sfb_status sfb_heap_writer_flush(struct sfb_recording_writer *writer, uint32_t process);

/* Sums that are in memory behind max_size go out, or are dropped: what comes has its own room. */
void sfb_heap_writer_flush_totals(struct sfb_recording_writer *writer);

#endif
