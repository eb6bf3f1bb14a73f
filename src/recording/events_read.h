/* The records of a block of events, one after the other. */
#ifndef SFB_RECORDING_EVENTS_READ_H
#define SFB_RECORDING_EVENTS_READ_H

#include "base/reader.h"
#include "recording/bytes.h"
#include "recording/ids.h"
#include "recording/tree_read.h"
#include "sfb/recording.h"

/* What was introduced so far: it lives as long as the file is read. */
struct sfb_introduced {
    struct sfb_ids processes, threads, stacks, sites;
};

struct sfb_events_reader {
    struct sfb_reader columns[COLUMN_COUNT]; /* without columns, the records lie in the first */
    bool has_columns;
    struct sfb_tree *tree;
    uint64_t next_stack; /* id */
    uint64_t last_time, last_weight;
};

/* @return false: the payload contradicts itself, or there was no memory: then errno is ENOMEM */
bool sfb_events_begin(struct sfb_events_reader *events, const struct sfb_introduced *introduced,
                      const uint8_t *payload, size_t size, bool has_columns);

enum sfb_record {
    RECORD_GIVEN,
    RECORD_END,     /* there are no more */
    RECORD_UNKNOWN, /* of a later version: the next one can be read */
    RECORD_BAD, /* it contradicts itself, or names what was not introduced: the next one can be read */
    RECORD_CUT, /* the block cannot be read any further */
    RECORD_NO_MEMORY
};

/*
 * Reads the next record.
 *
 * @param text  overwritten: what the event's texts lie in
 */
enum sfb_record sfb_events_next(struct sfb_events_reader *events, struct sfb_introduced *introduced,
                                struct sfb_bytes *text, struct sfb_recording_event *out);

/* @return whether an event names only what was introduced; introduces what it introduces */
bool sfb_introduce(struct sfb_introduced *introduced, const struct sfb_recording_event *event);

#endif
