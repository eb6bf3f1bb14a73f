/* Bodies of records, and payloads of blocks that have one record: docs/FORMATS.md has their fields. */
#ifndef SFB_RECORDING_BODIES_PUT_H
#define SFB_RECORDING_BODIES_PUT_H

#include "recording/bytes.h"
#include "sfb/recording.h"

/* Each is a sfb_body_writer: its event is the struct of its name. */
void sfb_body_start(struct sfb_bytes *body, const void *event);
void sfb_body_process(struct sfb_bytes *body, const void *event);
void sfb_body_process_end(struct sfb_bytes *body, const void *event);
void sfb_body_thread(struct sfb_bytes *body, const void *event);
void sfb_body_thread_end(struct sfb_bytes *body, const void *event);
void sfb_body_modules(struct sfb_bytes *body, const void *event);
void sfb_body_losses(struct sfb_bytes *body, const void *event);
void sfb_body_file(struct sfb_bytes *body, const void *event);
void sfb_body_finish(struct sfb_bytes *body, const void *event);

#endif
