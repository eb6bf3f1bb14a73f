#include "profiler/format/writer_blocks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profiler/format/block.h"
#include "profiler/format/crc32c.h"
#include "profiler/format/packer.h"
#include "util/write_all.h"

enum {
    SMALLEST = 512,     /* near the limit; half is for the header and the last event */
    RESERVE = 16 << 10, /* of max_size, for the recording's end */
    TOTALS_SIZE = 64,   /* reserved for a site's last sums, packed */
    TOTALS_LEAST = 1024 /* for few sites: little data packs badly */
};

enum sfb_status sfb_writer_fail(struct sfb_recording_writer *w, int error)
{
    if (w->error == 0)
        w->error = error;
    return SFB_NO_RESOURCE;
}

/* Writes w->block. */
static enum sfb_status write_block(struct sfb_recording_writer *w)
{
    const size_t written = sfb_write_all(w->fd, w->block.at, w->block.size);

    if (written == w->block.size) {
        w->size += w->block.size;
        return SFB_OK;
    }
    sfb_writer_fail(w, errno);
    /* Half a block would be read as damage. A pipe cannot be truncated, but nor can it be read again. */
    if (written > 0 && ftruncate(w->fd, (off_t)w->size) == 0)
        lseek(w->fd, (off_t)w->size, SEEK_SET);
    return SFB_NO_RESOURCE;
}

/* Appends room for the header and the payload, packed if that is smaller. @return its flags */
static uint32_t put_payload(struct sfb_recording_writer *w, bool fast)
{
    const size_t size = w->payload.size;
    uint8_t *out;
    size_t packed = 0;

    sfb_bytes_add(&w->block, RECORDING_BLOCK_HEADER_SIZE);
    out = sfb_bytes_add(&w->block, size);
    if (out == NULL)
        return 0;
    if (w->packer != NULL && size > 1)
        packed = w->packer->pack(w->packer_state, out, size - 1, w->payload.at, size, fast);
    if (packed == 0) {
        memcpy(out, w->payload.at, size);
        return 0;
    }
    w->block.size -= size - packed;
    return w->packer->flag;
}

/* Appends w->payload as a block. */
enum sfb_status sfb_writer_put_block(struct sfb_recording_writer *w, uint32_t type, uint32_t flags,
                                     uint32_t records, uint64_t max_size)
{
    const size_t before = w->block.size; /* the file's header, if any */
    struct sfb_block block = { .type = type, .sequence = w->records, .records = records };
    const uint8_t *payload;

    block.flags = flags | put_payload(w, type == RECORDING_HEAP);
    if (w->payload.failed || w->block.failed)
        return sfb_writer_fail(w, ENOMEM);
    payload = w->block.at + before + RECORDING_BLOCK_HEADER_SIZE;
    block.stored = (uint32_t)(w->block.size - before - RECORDING_BLOCK_HEADER_SIZE);
    block.unpacked = (uint32_t)w->payload.size;
    block.crc = sfb_crc32c(0, payload, block.stored);
    sfb_block_write(w->block.at + before, &block);
    if (max_size > 0 && w->size + w->block.size > max_size)
        return sfb_writer_fail(w, EFBIG);
    if (write_block(w) != SFB_OK)
        return SFB_NO_RESOURCE;
    w->records += records;
    return SFB_OK;
}

/* Size limit for the last sums of the heap's sites. The rest is reserved for the recording's end. */
uint64_t sfb_writer_size_for_totals(const struct sfb_recording_writer *w)
{
    const uint64_t quarter = w->max_size / 4;

    return w->max_size - (quarter < RESERVE ? quarter : RESERVE);
}

/* Size limit for samples in a file with a limit. */
uint64_t sfb_writer_size_for_samples(const struct sfb_recording_writer *w)
{
    const uint64_t most = sfb_writer_size_for_totals(w);
    const uint64_t totals = w->site_count > 0 ? TOTALS_LEAST + w->site_count * TOTALS_SIZE : 0;

    return most - (totals < most / 2 ? totals : most / 2);
}

enum sfb_status sfb_writer_flush_to(struct sfb_recording_writer *w, uint64_t max_size)
{
    const uint32_t records = w->events.records;
    const uint64_t samples = w->events.samples, weight = w->events.weight,
                   waited = w->events.waited;
    const uint32_t flags = w->events.tree != NULL ? RECORDING_COLUMNS : 0;
    enum sfb_status status = SFB_NO_RESOURCE;

    if (records == 0)
        return SFB_OK;
    w->payload.size = w->block.size = 0;
    if (sfb_events_end(&w->events, &w->payload))
        status = sfb_writer_put_block(w, RECORDING_EVENTS, flags, records, max_size);
    else
        sfb_writer_fail(w, ENOMEM);
    if (status != SFB_OK) {
        w->dropped += w->payload.size;
        return status;
    }
    w->samples += samples;
    w->weight += weight;
    w->waited += waited;
    w->last_process = sfb_ids_last(&w->processes);
    w->last_thread = sfb_ids_last(&w->threads);
    w->last_site = sfb_ids_last(&w->sites);
    return SFB_OK;
}

/*
 * Size at which a block is packed and written. Near the limit the block must fit even if packing gains nothing; what it
 * gains is room for the next one. A block with little more than its header is not worth it.
 */
uint64_t sfb_writer_block_size(const struct sfb_recording_writer *w, uint64_t good)
{
    const uint64_t most = sfb_writer_size_for_samples(w);
    const uint64_t left = most > w->size ? most - w->size : 0;

    return w->max_size == 0 || left < SMALLEST || left - SMALLEST / 2 > good ? good
                                                                             : left - SMALLEST / 2;
}

enum sfb_status sfb_writer_flush_if_full(struct sfb_recording_writer *w)
{
    return sfb_events_size(&w->events) >= sfb_writer_block_size(w, WRITER_BLOCK_SIZE)
               ? sfb_writer_flush_to(w, sfb_writer_size_for_samples(w))
               : SFB_OK;
}

enum sfb_status sfb_writer_put(struct sfb_recording_writer *w, uint32_t kind,
                               sfb_body_writer *write, const void *event)
{
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    sfb_events_put(&w->events, kind, write, event);
    return sfb_writer_flush_if_full(w);
}
