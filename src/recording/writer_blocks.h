/* What a writer is, and how its events become blocks of the file. */
#ifndef SFB_RECORDING_WRITER_BLOCKS_H
#define SFB_RECORDING_WRITER_BLOCKS_H

#include "recording/events.h"
#include "recording/heap_events.h"
#include "recording/ids.h"
#include "recording/known_stacks.h"

enum {
    WRITER_BLOCK_SIZE = 256 << 10, /* before it is packed, about */
    WRITER_HEAP_OPEN = 8 /* processes whose events of the heap are in memory at the same time */
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
    uint64_t dropped;         /* bytes of payloads that are not */
    struct sfb_events events;
    struct sfb_bytes block; /* header, then payload: what write(2) is given */
    struct sfb_bytes payload;
    struct sfb_known_stacks known;
    struct sfb_ids processes, threads, sites;
    struct sfb_heap_events heap[WRITER_HEAP_OPEN];
    uint64_t heap_uses;
    uint64_t site_count;
    uint32_t last_site;                 /* introduced in the file */
    bool totals_pending;                /* behind max_size: there are sums in memory */
    uint32_t last_process, last_thread; /* introduced in the file, not only in memory */
    struct sfb_stack_items items;
};

enum sfb_status sfb_writer_fail(struct sfb_recording_writer *writer, int error);

/* Appends writer->payload as a block. */
enum sfb_status sfb_writer_put_block(struct sfb_recording_writer *writer, uint32_t type,
                                     uint32_t flags, uint32_t records, uint64_t max_size);

/* Writes the open block of events, if the file does not exceed a size with it. */
enum sfb_status sfb_writer_flush_to(struct sfb_recording_writer *writer, uint64_t max_size);

/* The last sums of the heap's sites may go up to here. Behind it there is room for how the recording ended. */
uint64_t sfb_writer_size_for_totals(const struct sfb_recording_writer *writer);

/* What samples may fill of a file that has a limit. */
uint64_t sfb_writer_size_for_samples(const struct sfb_recording_writer *writer);

/* How large a block may grow before it is packed, of those that are `good` bytes otherwise. */
uint64_t sfb_writer_block_size(const struct sfb_recording_writer *writer, uint64_t good);

enum sfb_status sfb_writer_flush_if_full(struct sfb_recording_writer *writer);

/* Appends an event that has a body. */
enum sfb_status sfb_writer_put(struct sfb_recording_writer *writer, uint32_t kind,
                               sfb_body_writer *write, const void *event);

#endif
