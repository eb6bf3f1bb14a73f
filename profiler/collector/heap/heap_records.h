/* Checks the records of a heap ring one after the other, and passes them to their process's heap. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_RECORDS_H
#define PROFILER_COLLECTOR_HEAP_HEAP_RECORDS_H

#include "profiler/collector/heap/heap_session.h"

/* Decodes the next record of a ring. @return whether there is one */
bool sfb_heap_records_peek(struct sfb_recorder_drain *drain, uint32_t slot,
                           struct sfb_heap_record *out);

void sfb_heap_records_take(struct sfb_recorder_drain *drain, uint32_t slot,
                           const struct sfb_heap_record *record);

/* Writes the number of bad records since the last time. */
void sfb_heap_records_tell_wrong(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
