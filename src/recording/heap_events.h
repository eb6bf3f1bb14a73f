/*
 * Events of a process's heap, as blocks are made of them.
 *
 * An event is the number of its pair, a site and a size, in its block: what a program does again and again is a
 * sequence of bytes that comes again, and packs to little.
 */
#ifndef SFB_RECORDING_HEAP_EVENTS_H
#define SFB_RECORDING_HEAP_EVENTS_H

#include "recording/bytes.h"
#include "recording/format.h"
#include "sfb/recording.h"

struct sfb_heap_pair {
    uint64_t size;
    uint32_t site; /* 0: the place is empty */
    uint32_t number;
};

struct sfb_heap_events {
    uint32_t process; /* 0: nobody's */
    uint32_t records;
    uint64_t used; /* when it was, for who has to make room */
    uint64_t time; /* of the last mark; 0: none yet */
    struct sfb_bytes columns[HEAP_COLUMNS];
    struct sfb_heap_pair *pairs; /* open addressing */
    size_t room, count;
    uint32_t last_site;
};

/* @return false: no memory; nothing has changed */
bool sfb_heap_events_put(struct sfb_heap_events *events,
                         const struct sfb_recording_heap_event *event);

/* Whether the block should go out: it has as many bytes, or pairs, as is good. */
bool sfb_heap_events_full(const struct sfb_heap_events *events, uint64_t most);

/* Writes the payload, and begins the next one of the same process. @return whether there was memory for all of it */
bool sfb_heap_events_end(struct sfb_heap_events *events, struct sfb_bytes *payload);

void sfb_heap_events_free(struct sfb_heap_events *events);

#endif
