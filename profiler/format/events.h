/* Encodes the payload of a block of events. */
#ifndef PROFILER_FORMAT_EVENTS_H
#define PROFILER_FORMAT_EVENTS_H

#include "profiler/format/bytes.h"
#include "profiler/format/format.h"
#include "profiler/format/stack_tree.h"
#include "sfb/recording.h"

struct sfb_events {
    struct sfb_stack_tree *tree; /* NULL: no columns */
    struct sfb_bytes columns[COLUMN_COUNT];
    struct sfb_bytes body; /* of the record being written */
    uint32_t records;
    uint32_t first_stack, stacks; /* id of its first stack, or the next one; count */
    uint64_t samples, weight;
    uint64_t waited;                 /* ns of waits */
    uint64_t last_time, last_weight; /* of the previous sample */
    uint32_t last_thread;
};

/* Appends a record; `write` encodes the body of `event`. */
typedef void sfb_body_writer(struct sfb_bytes *body, const void *event);
void sfb_events_put(struct sfb_events *events, uint32_t kind, sfb_body_writer *write,
                    const void *event);

void sfb_events_put_sample(struct sfb_events *events, const struct sfb_recording_sample *sample);
void sfb_events_put_wait(struct sfb_events *events, const struct sfb_recording_wait *wait);

/*
 * Appends a stack, whose id is first_stack + stacks before the call.
 *
 * @param items  from sfb_stack_items_read(); NULL: not stored in the tree. Its bytes are overwritten.
 *
 * @return false: no room in this block; nothing has changed
 */
bool sfb_events_put_stack(struct sfb_events *events, const struct sfb_recording_stack *stack,
                          struct sfb_stack_items *items);

/* @return approximate size of the payload in bytes */
size_t sfb_events_size(const struct sfb_events *events);

/* Writes the payload, and begins the next one. @return false: no memory */
bool sfb_events_end(struct sfb_events *events, struct sfb_bytes *payload);

void sfb_events_free(struct sfb_events *events);

#endif
