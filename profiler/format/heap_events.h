/*
 * Encodes a process's heap events into blocks.
 *
 * An event is the number of its pair (site and size) within the block. Repeated behaviour becomes a repeated sequence of
 * bytes, which packs well.
 */
#ifndef PROFILER_FORMAT_HEAP_EVENTS_H
#define PROFILER_FORMAT_HEAP_EVENTS_H

#include "profiler/format/bytes.h"
#include "profiler/format/format.h"
#include "sfb/recording.h"

struct sfb_heap_pair {
    uint64_t size;
    uint32_t site; /* 0: empty */
    uint32_t number;
};

struct sfb_heap_events {
    uint32_t process; /* 0: free */
    uint32_t records;
    uint64_t used; /* last use: the oldest is reused */
    uint64_t time; /* of the last mark; 0: no mark yet */
    struct sfb_bytes columns[HEAP_COLUMNS];
    struct sfb_heap_pair *pairs; /* open addressing */
    size_t room, count;
    uint32_t last_site;
};

/* @return false: no memory; nothing has changed */
bool sfb_heap_events_put(struct sfb_heap_events *events,
                         const struct sfb_recording_heap_event *event);

/* Whether the block has reached a good number of bytes or pairs. */
bool sfb_heap_events_full(const struct sfb_heap_events *events, uint64_t most);

/* Writes the payload, and begins the next one of the same process. @return false: no memory */
bool sfb_heap_events_end(struct sfb_heap_events *events, struct sfb_bytes *payload);

void sfb_heap_events_free(struct sfb_heap_events *events);

#endif
