/* Encodes bodies of heap records. */
#ifndef PROFILER_FORMAT_HEAP_BODIES_PUT_H
#define PROFILER_FORMAT_HEAP_BODIES_PUT_H

#include "profiler/format/bytes.h"
#include "sfb/recording.h"

/* Each is a sfb_body_writer; `event` is the struct of the function's name. */
void sfb_body_heap(struct sfb_bytes *body, const void *event);
void sfb_body_heap_site(struct sfb_bytes *body, const void *event);
void sfb_body_heap_totals(struct sfb_bytes *body, const void *event);
void sfb_body_heap_state(struct sfb_bytes *body, const void *event);

#endif
