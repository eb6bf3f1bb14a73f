/* The writer's state, and functions that write its events as blocks. */
#ifndef PROFILER_FORMAT_WRITER_BLOCKS_H
#define PROFILER_FORMAT_WRITER_BLOCKS_H

#include "profiler/format/events.h"
#include "profiler/format/heap_events.h"
#include "profiler/format/ids.h"
#include "profiler/format/known_stacks.h"

enum {
    WRITER_BLOCK_SIZE = 256 << 10, /* unpacked, about */
    WRITER_HEAP_OPEN = 8           /* processes with pending heap events */
};

struct sfb_recording_writer {
    int fd;
    int error;
    const struct sfb_recording_packer *packer;
    void *packer_state;
    uint64_t max_size;
    uint64_t size;
    uint64_t records;         /* in the file */
    uint64_t samples, weight; /* in the file */
    uint64_t waited;          /* ns of waits in the file */
    uint64_t dropped;         /* bytes of payloads not written */
    struct sfb_events events;
    struct sfb_bytes block; /* header and payload, for one write(2) */
    struct sfb_bytes payload;
    struct sfb_known_stacks known;
    struct sfb_ids processes, threads, sites, codes, awaited;
    struct sfb_bytes key; /* of a stack with calls of an interpreter's functions */
    struct sfb_heap_events heap[WRITER_HEAP_OPEN];
    uint64_t heap_uses;
    uint64_t site_count;
    uint32_t last_site;                 /* introduced in the file */
    bool totals_pending;                /* sums are pending past max_size */
    uint32_t last_process, last_thread; /* introduced in the file, not only in memory */
    struct sfb_stack_items items;
};

enum sfb_status sfb_writer_fail(struct sfb_recording_writer *writer, int error);

/* Appends writer->payload as a block. */
enum sfb_status sfb_writer_put_block(struct sfb_recording_writer *writer, uint32_t type,
                                     uint32_t flags, uint32_t records, uint64_t max_size);

/* Writes the open block of events, unless the file would exceed a size. */
enum sfb_status sfb_writer_flush_to(struct sfb_recording_writer *writer, uint64_t max_size);

/* Size limit for the last sums of the heap's sites. The rest is reserved for the recording's end. */
uint64_t sfb_writer_size_for_totals(const struct sfb_recording_writer *writer);

/* Size limit for samples in a file with a limit. */
uint64_t sfb_writer_size_for_samples(const struct sfb_recording_writer *writer);

/* Size at which a block is packed and written; `good` away from the file's limit. */
uint64_t sfb_writer_block_size(const struct sfb_recording_writer *writer, uint64_t good);

enum sfb_status sfb_writer_flush_if_full(struct sfb_recording_writer *writer);

/* Appends an event with a body. */
enum sfb_status sfb_writer_put(struct sfb_recording_writer *writer, uint32_t kind,
                               sfb_body_writer *write, const void *event);

#endif
