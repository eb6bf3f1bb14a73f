/* Encodes bodies of records, and payloads of blocks of one record; their fields are in docs/FORMATS.md. */
#ifndef PROFILER_FORMAT_BODIES_PUT_H
#define PROFILER_FORMAT_BODIES_PUT_H

#include "profiler/format/bytes.h"
#include "sfb/recording.h"

/* Each is a sfb_body_writer; `event` is the struct of the function's name. */
void sfb_body_start(struct sfb_bytes *body, const void *event);
void sfb_body_process(struct sfb_bytes *body, const void *event);
void sfb_body_process_end(struct sfb_bytes *body, const void *event);
void sfb_body_thread(struct sfb_bytes *body, const void *event);
void sfb_body_thread_end(struct sfb_bytes *body, const void *event);
void sfb_body_modules(struct sfb_bytes *body, const void *event);
void sfb_body_wait(struct sfb_bytes *body, const void *event);
void sfb_body_awaited(struct sfb_bytes *body, const void *event);
void sfb_body_mark(struct sfb_bytes *body, const void *event);
void sfb_body_pause(struct sfb_bytes *body, const void *event);
void sfb_body_losses(struct sfb_bytes *body, const void *event);
void sfb_body_file(struct sfb_bytes *body, const void *event);
void sfb_body_code(struct sfb_bytes *body, const void *event);
void sfb_body_code_frames(struct sfb_bytes *body, const void *event);
void sfb_body_finish(struct sfb_bytes *body, const void *event);

#endif
