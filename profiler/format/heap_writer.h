/* Writes the events and sums of the heap. */
#ifndef PROFILER_FORMAT_HEAP_WRITER_H
#define PROFILER_FORMAT_HEAP_WRITER_H

#include "profiler/format/writer_blocks.h"

/* Writes the pending events of a process, or of all (0). */
enum sfb_status sfb_heap_writer_flush(struct sfb_recording_writer *writer, uint32_t process);

/* Past max_size: writes the pending sums, or drops them. Later events have room of their own. */
void sfb_heap_writer_flush_totals(struct sfb_recording_writer *writer);

#endif
