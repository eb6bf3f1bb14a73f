/* The payload of a block of events, as it is written. */
#ifndef SFB_RECORDING_EVENTS_H
#define SFB_RECORDING_EVENTS_H

#include "recording/bytes.h"
#include "recording/format.h"
#include "recording/stack_tree.h"
#include "sfb/recording.h"

struct sfb_events {
    struct sfb_stack_tree *tree; /* NULL: no columns */
    struct sfb_bytes columns[COLUMN_COUNT];
    struct sfb_bytes body; /* of the record that is being written */
    uint32_t records;
    uint32_t first_stack, stacks; /* id of the first stack that it has, or would have; how many */
    uint64_t samples, weight;
    uint64_t last_time, last_weight; /* of the sample before */
    uint32_t last_thread;
};

/* Appends a record with a body. `write` writes the body of `event`. */
typedef void sfb_body_writer(struct sfb_bytes *body, const void *event);
void sfb_events_put(struct sfb_events *events, uint32_t kind, sfb_body_writer *write,
                    const void *event);

void sfb_events_put_sample(struct sfb_events *events, const struct sfb_recording_sample *sample);

/*
 * Appends a stack: its id is first_stack + stacks before the call.
 *
 * @param items  what sfb_stack_items_read() made of it; NULL: it goes into no tree. The bytes are overwritten.
 *
 * @return whether there was room for it in this block; else nothing has changed
 */
bool sfb_events_put_stack(struct sfb_events *events, const struct sfb_recording_stack *stack,
                          struct sfb_stack_items *items);

/* @return bytes of the payload, about */
size_t sfb_events_size(const struct sfb_events *events);

/* Writes the payload, and begins the next one. @return whether there was memory for all of it */
bool sfb_events_end(struct sfb_events *events, struct sfb_bytes *payload);

void sfb_events_free(struct sfb_events *events);

#endif
