/* Bodies of records of the heap. */
#ifndef SFB_RECORDING_HEAP_BODIES_PUT_H
#define SFB_RECORDING_HEAP_BODIES_PUT_H

#include "recording/bytes.h"
#include "sfb/recording.h"

/* Each is a sfb_body_writer: its event is the struct of its name. */
void sfb_body_heap(struct sfb_bytes *body, const void *event);
void sfb_body_heap_site(struct sfb_bytes *body, const void *event);
void sfb_body_heap_totals(struct sfb_bytes *body, const void *event);
void sfb_body_heap_state(struct sfb_bytes *body, const void *event);

#endif
