/* Bodies of records of the heap back to events. */
#ifndef SFB_RECORDING_HEAP_BODIES_GET_H
#define SFB_RECORDING_HEAP_BODIES_GET_H

#include "base/reader.h"
#include "sfb/recording.h"

/* @return whether the kind is one of them. What does not fit fails the body. */
bool sfb_heap_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body);

#endif
