/* Decodes bodies of heap records to events. */
#ifndef PROFILER_FORMAT_HEAP_BODIES_GET_H
#define PROFILER_FORMAT_HEAP_BODIES_GET_H

#include "base/reader.h"
#include "sfb/recording.h"

/* @return whether the kind is a heap record. Malformed data fails the body. */
bool sfb_heap_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body);

#endif
