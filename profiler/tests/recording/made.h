/* Recordings for tests: written by the writer, into memory. */
#ifndef RECORDING_MADE_H
#define RECORDING_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"

struct made {
    uint8_t *bytes;
    size_t size;
};

/* What the file of a recording holds, from its beginning. The caller frees it. */
struct made made_read(int fd);

/* A writer of a file in memory, with a start event. */
struct sfb_recording_writer *made_open(int *fd, const struct sfb_recording_packer *packer,
                                       uint64_t max_size);

/* A stack of so many frames: the innermost lies at `inner`, the others depend on `path`. @return its size */
size_t made_stack(uint8_t *out, size_t size, uint64_t inner, uint64_t path, unsigned frames);

/*
 * Every kind of event, twice where that is another case. `flush_each`: a block for each of its parts.
 *
 * The events that were put are in made_events, in their order.
 */
struct made made_all_kinds(const struct sfb_recording_packer *packer, int flush_each);

/*
 * A heap: two sites of a process, one of another, events of both, their sums. What is in the file is, in this order:
 * who they are (block 1), events of the first process (block 2), of the other one (block 3), and the rest.
 */
struct made made_heap(const struct sfb_recording_packer *packer);

/* Columns that are not packed. */
extern const struct sfb_recording_packer made_unpacked;

extern struct sfb_recording_event made_events[128];
extern size_t made_event_count;

#endif
