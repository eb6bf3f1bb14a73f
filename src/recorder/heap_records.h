/* Records of a ring of the heap, one after the other: each is judged, and told to its process's heap. */
#ifndef RECORDER_HEAP_RECORDS_H
#define RECORDER_HEAP_RECORDS_H

#include "recorder/heap_session.h"

/* Decodes the next record of a ring. @return whether there is one */
bool sfb_heap_records_peek(struct sfb_recorder_drain *drain, uint32_t slot,
                           struct sfb_heap_record *out);

void sfb_heap_records_take(struct sfb_recorder_drain *drain, uint32_t slot,
                           const struct sfb_heap_record *record);

/* Writes how many records were wrong since the last time. */
void sfb_heap_records_tell_wrong(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
