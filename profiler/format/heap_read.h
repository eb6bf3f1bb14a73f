/* Decodes the events of a block of a process's heap. */
#ifndef PROFILER_FORMAT_HEAP_READ_H
#define PROFILER_FORMAT_HEAP_READ_H

#include "base/reader.h"
#include "profiler/format/events_read.h"

struct sfb_heap_reader {
    uint32_t process;
    struct sfb_reader columns[HEAP_COLUMNS];
    struct {
        uint64_t size;
        uint32_t site;
    } * pairs;
    size_t count, room; /* of pairs so far */
    uint64_t time;
};

/* @return false: the payload contradicts itself */
bool sfb_heap_read_begin(struct sfb_heap_reader *heap, const uint8_t *payload, size_t size);

/* Decodes the next event. */
enum sfb_record sfb_heap_read_next(struct sfb_heap_reader *heap, struct sfb_introduced *introduced,
                                   struct sfb_recording_event *out);

void sfb_heap_read_free(struct sfb_heap_reader *heap);

#endif
