/* Decodes bodies of records to events. */
#ifndef PROFILER_FORMAT_BODIES_GET_H
#define PROFILER_FORMAT_BODIES_GET_H

#include "base/reader.h"
#include "profiler/format/bytes.h"
#include "sfb/recording.h"

/*
 * Decodes the body of a record.
 *
 * @param kind  enum sfb_recording_kind, except stacks and samples
 * @param text  overwritten; holds the event's texts
 *
 * @return false: cut off, a number is too wide, another kind; or no memory, with text->failed set
 */
bool sfb_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body,
                   struct sfb_bytes *text);

#endif
