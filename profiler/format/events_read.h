/* Decodes the records of a block of events, one after the other. */
#ifndef PROFILER_FORMAT_EVENTS_READ_H
#define PROFILER_FORMAT_EVENTS_READ_H

#include "base/reader.h"
#include "profiler/format/bytes.h"
#include "profiler/format/ids.h"
#include "profiler/format/tree_read.h"
#include "sfb/recording.h"

/* Ids introduced so far; kept as long as the file is read. */
struct sfb_introduced {
    struct sfb_ids processes, threads, stacks, sites, codes, awaited;
};

struct sfb_events_reader {
    struct sfb_reader columns[COLUMN_COUNT]; /* without columns: only the first, with the records */
    bool has_columns;
    struct sfb_tree *tree;
    uint64_t next_stack; /* id */
    uint64_t last_time, last_weight;
};

/* @return false: the payload contradicts itself, or there is no memory: then errno is ENOMEM */
bool sfb_events_begin(struct sfb_events_reader *events, const struct sfb_introduced *introduced,
                      const uint8_t *payload, size_t size, bool has_columns);

enum sfb_record {
    RECORD_GIVEN,
    RECORD_END,     /* no more records */
    RECORD_UNKNOWN, /* of a later version; the next record is readable */
    RECORD_BAD, /* contradicts itself, or names an id not introduced; the next record is readable */
    RECORD_CUT, /* the rest of the block is unreadable */
    RECORD_NO_MEMORY
};

/*
 * Decodes the next record.
 *
 * @param text  overwritten; holds the event's texts
 */
enum sfb_record sfb_events_next(struct sfb_events_reader *events, struct sfb_introduced *introduced,
                                struct sfb_bytes *text, struct sfb_recording_event *out);

/* Introduces the ids of an event. @return false: it names an id that was not introduced */
bool sfb_introduce(struct sfb_introduced *introduced, const struct sfb_recording_event *event);

#endif
