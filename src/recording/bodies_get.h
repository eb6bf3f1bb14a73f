/* Bodies of records back to events. */
#ifndef SFB_RECORDING_BODIES_GET_H
#define SFB_RECORDING_BODIES_GET_H

#include "base/reader.h"
#include "recording/bytes.h"
#include "sfb/recording.h"

/*
 * Reads the body of a record.
 *
 * @param kind  enum sfb_recording_kind, but no stack and no sample
 * @param text  overwritten: what the event's texts lie in
 *
 * @return false: it is cut off or too wide, the kind is none of these, or there was no memory: text->failed
 */
bool sfb_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body,
                   struct sfb_bytes *text);

#endif
