/*
 * Reads blocks from a file, and events from blocks. Uses the memory of one block, stored and unpacked.
 *
 * No byte is trusted. A header has its own checksum, so the size that it states is the writer's. A block with a damaged
 * payload is therefore skipped as a whole, and no bytes inside it are mistaken for a block. Without a valid header, the
 * next one is searched for byte by byte.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profiler/format/block.h"
#include "profiler/format/bodies_get.h"
#include "profiler/format/crc32c.h"
#include "profiler/format/events_read.h"
#include "profiler/format/heap_read.h"
#include "profiler/format/source.h"
#include "profiler/format/zstd.h"

enum { SEARCH_SIZE = 65536 };

struct sfb_recording_reader {
    struct sfb_recording_source source;
    uint64_t offset;   /* of the next block */
    uint64_t expected; /* sequence of the next block */
    struct sfb_recording_health health;
    struct sfb_introduced introduced;
    struct sfb_block block; /* the current one */
    bool in_block;
    bool torn;      /* its end is missing; read as far as possible */
    uint32_t given; /* records of it processed so far, good or bad */
    struct sfb_events_reader events;
    struct sfb_heap_reader heap;
    struct sfb_bytes stored, unpacked;
    struct sfb_bytes text; /* of the last event */
    struct sfb_reader payload;
    bool begun; /* a start event was returned */
};

/* --- blocks ------------------------------------------------------------------------------------ */

static uint64_t left(const struct sfb_recording_reader *r)
{
    return r->source.size - r->offset;
}

/* @return the offset of the next possible header after r->offset, or the end */
static uint64_t search(struct sfb_recording_reader *r)
{
    uint64_t at = r->offset + 1;
    uint8_t window[SEARCH_SIZE];
    size_t n;

    while ((n = sfb_recording_source_read(&r->source, at, window, sizeof window)) >=
           RECORDING_BLOCK_HEADER_SIZE) {
        size_t i = 0;

        while (i + RECORDING_BLOCK_HEADER_SIZE <= n) {
            const uint8_t *found = memchr(window + i, (uint8_t)RECORDING_BLOCK_MAGIC[0],
                                          n - i - RECORDING_BLOCK_HEADER_SIZE + 1);
            struct sfb_block block;

            if (found == NULL)
                break;
            if (sfb_block_read(&block, found))
                return at + (size_t)(found - window);
            i = (size_t)(found - window) + 1;
        }
        at += n - RECORDING_BLOCK_HEADER_SIZE + 1;
    }
    return r->source.size;
}

/* Whether the rest of the file may be the beginning of a header. */
static bool is_torn_header(const uint8_t *at, size_t n)
{
    return n < RECORDING_BLOCK_HEADER_SIZE &&
           memcmp(at, RECORDING_BLOCK_MAGIC,
                  n < RECORDING_BLOCK_MAGIC_SIZE ? n : RECORDING_BLOCK_MAGIC_SIZE) == 0;
}

static void skip_to(struct sfb_recording_reader *r, uint64_t offset)
{
    if (r->health.skipped == 0)
        r->health.skipped_at = r->offset;
    r->health.skipped += offset - r->offset;
    r->offset = offset;
}

/* Finds the next header, at or after r->offset. @return false: no more headers */
static bool find_header(struct sfb_recording_reader *r)
{
    uint8_t header[RECORDING_BLOCK_HEADER_SIZE];

    while (left(r) > 0) {
        const size_t n = sfb_recording_source_read(&r->source, r->offset, header, sizeof header);

        if (n == sizeof header && sfb_block_read(&r->block, header))
            return true;
        if (n == 0) { /* the file has shrunk, or is unreadable */
            r->health.torn += left(r);
            r->offset = r->source.size;
        } else if (is_torn_header(header, n)) {
            r->health.torn += n;
            r->offset += n;
        } else {
            skip_to(r, search(r));
        }
    }
    return false;
}

static void lose(struct sfb_recording_reader *r, uint64_t records)
{
    r->health.lost_records += records;
}

/* Counts the records of missing blocks by the sequence of this one. */
static void count_records(struct sfb_recording_reader *r)
{
    if (r->block.sequence > r->expected)
        lose(r, r->block.sequence - r->expected);
    r->expected = r->block.sequence + r->block.records;
}

/* Copies `size` bytes of the payload. @return false: no memory. The copy is shorter if the file is. */
static bool load(struct sfb_recording_reader *r, size_t size)
{
    uint8_t *at;

    r->stored.size = 0;
    at = sfb_bytes_add(&r->stored, size > 0 ? size : 1);
    if (at == NULL)
        return false;
    r->stored.size =
        sfb_recording_source_read(&r->source, r->offset + RECORDING_BLOCK_HEADER_SIZE, at, size);
    return true;
}

static bool unpack(struct sfb_recording_reader *r, const uint8_t **payload, size_t *size)
{
    uint8_t *out;

    *payload = r->stored.at;
    *size = r->stored.size;
    if (!(r->block.flags & RECORDING_ZSTD))
        return r->stored.size == r->block.unpacked;
    r->unpacked.size = 0;
    *size = r->block.unpacked;
    *payload = out = sfb_bytes_add(&r->unpacked, *size > 0 ? *size : 1);
    return out != NULL &&
           sfb_recording_unpack(out, r->block.unpacked, r->stored.at, r->stored.size);
}

static bool is_known(const struct sfb_block *b)
{
    return ((b->type >= RECORDING_START && b->type <= RECORDING_FILE) ||
            b->type == RECORDING_HEAP) &&
           (b->flags & ~(uint32_t)(RECORDING_ZSTD | RECORDING_COLUMNS)) == 0;
}

static bool begin_events(struct sfb_recording_reader *r, const uint8_t *payload, size_t size)
{
    if (r->block.type == RECORDING_HEAP)
        return sfb_heap_read_begin(&r->heap, payload, size);
    if (r->block.type != RECORDING_EVENTS) {
        r->payload = (struct sfb_reader){ .pos = payload, .left = size };
        return true;
    }
    return sfb_events_begin(&r->events, &r->introduced, payload, size,
                            r->block.flags & RECORDING_COLUMNS);
}

/* A last block without its end: records stored one after the other can still be read. */
static enum sfb_status begin_torn(struct sfb_recording_reader *r)
{
    const size_t size = (size_t)left(r) - RECORDING_BLOCK_HEADER_SIZE;

    r->health.torn += left(r);
    if (r->block.type != RECORDING_EVENTS || r->block.flags != 0) {
        lose(r, r->block.records);
        r->offset = r->source.size;
        return SFB_END;
    }
    if (!load(r, size))
        return SFB_NO_RESOURCE;
    r->offset = r->source.size;
    r->torn = r->in_block = begin_events(r, r->stored.at, r->stored.size);
    if (!r->in_block)
        lose(r, r->block.records);
    return r->in_block ? SFB_OK : SFB_END;
}

static enum sfb_status bad_block(struct sfb_recording_reader *r)
{
    r->health.bad_blocks++;
    lose(r, r->block.records);
    return SFB_OK;
}

/* Begins the block at r->offset, whose header was read. Clears r->in_block if no record of it is readable. */
static enum sfb_status begin_block(struct sfb_recording_reader *r)
{
    const uint64_t whole = RECORDING_BLOCK_HEADER_SIZE + (uint64_t)r->block.stored;
    const uint8_t *payload;
    size_t size;

    r->given = 0;
    count_records(r);
    if (whole > left(r))
        return begin_torn(r);
    if (!load(r, r->block.stored))
        return SFB_NO_RESOURCE;
    r->offset += whole;
    if (r->stored.size < r->block.stored ||
        sfb_crc32c(0, r->stored.at, r->stored.size) != r->block.crc)
        return bad_block(r);
    r->health.bytes_of_type[r->block.type < SFB_RECORDING_TYPES ? r->block.type : 0] += whole;
    if (!is_known(&r->block)) {
        r->health.unknown_blocks++;
        lose(r, r->block.records);
        return SFB_OK;
    }
    errno = 0;
    if (!unpack(r, &payload, &size) || !begin_events(r, payload, size))
        return r->unpacked.failed || errno == ENOMEM ? SFB_NO_RESOURCE : bad_block(r);
    r->health.blocks++;
    r->in_block = true;
    return SFB_OK;
}

/* --- events ------------------------------------------------------------------------------------ */

/* The record of a block with one record, other than events. */
static enum sfb_record next_single(struct sfb_recording_reader *r, struct sfb_recording_event *out)
{
    const uint32_t kind = r->block.type == RECORDING_START ? SFB_EVENT_START : SFB_EVENT_FILE;

    if (r->given > 0)
        return RECORD_END;
    if (!sfb_body_read(out, kind, &r->payload, &r->text))
        return r->text.failed ? RECORD_NO_MEMORY : RECORD_CUT;
    if ((kind == SFB_EVENT_START && r->begun) || !sfb_introduce(&r->introduced, out))
        return RECORD_BAD;
    r->begun |= kind == SFB_EVENT_START;
    return RECORD_GIVEN;
}

static enum sfb_record next_record(struct sfb_recording_reader *r, struct sfb_recording_event *out)
{
    switch (r->block.type) {
    case RECORDING_EVENTS: return sfb_events_next(&r->events, &r->introduced, &r->text, out);
    case RECORDING_HEAP: return sfb_heap_read_next(&r->heap, &r->introduced, out);
    default: return next_single(r, out);
    }
}

static void end_block(struct sfb_recording_reader *r)
{
    if (r->block.records > r->given)
        lose(r, r->block.records - r->given);
    r->in_block = r->torn = false;
}

/* @return SFB_OK: out has an event; SFB_END: end of the block; SFB_NO_RESOURCE */
static enum sfb_status next_in_block(struct sfb_recording_reader *r,
                                     struct sfb_recording_event *out)
{
    for (;;) {
        const enum sfb_record record = next_record(r, out);

        if (record == RECORD_NO_MEMORY)
            return SFB_NO_RESOURCE;
        if (record == RECORD_END || record == RECORD_CUT) {
            r->health.bad_blocks += record == RECORD_CUT && !r->torn;
            end_block(r);
            return SFB_END;
        }
        r->given++;
        if (record == RECORD_GIVEN) {
            r->health.finished |= out->kind == SFB_EVENT_FINISH;
            return SFB_OK;
        }
        r->health.bad_records += record == RECORD_BAD;
        r->health.unknown_records += record == RECORD_UNKNOWN;
    }
}

enum sfb_status sfb_recording_reader_next(struct sfb_recording_reader *r,
                                          struct sfb_recording_event *out)
{
    for (;;) {
        enum sfb_status status;

        if (r->in_block) {
            status = next_in_block(r, out);
            if (status != SFB_END)
                return status;
        }
        if (!find_header(r))
            return SFB_END;
        status = begin_block(r);
        if (status != SFB_OK)
            return status;
    }
}

/* --- the file ---------------------------------------------------------------------------------- */

static enum sfb_status judge_header(struct sfb_recording_reader *r, struct sfb_error *error)
{
    uint8_t header[RECORDING_HEADER_SIZE] = { 0 };
    const size_t n = sfb_recording_source_read(&r->source, 0, header, sizeof header);
    const size_t seen = n < RECORDING_MAGIC_SIZE ? n : RECORDING_MAGIC_SIZE;
    uint64_t size;

    if (memcmp(header, RECORDING_MAGIC, seen) != 0)
        return sfb_fail(error, SFB_BAD_MAGIC, "magic", 0);
    if (n < sizeof header)
        return sfb_fail(error, SFB_TRUNCATED, "header", n);
    r->offset = RECORDING_HEADER_SIZE;
    if (recording_get_le(header + RECORDING_HEADER_CRC, 4) !=
        sfb_crc32c(0, header, RECORDING_HEADER_CRC)) {
        r->offset = RECORDING_MAGIC_SIZE; /* a damaged header: the blocks may be good */
        skip_to(r, RECORDING_HEADER_SIZE);
        return SFB_OK;
    }
    if (header[8] != RECORDING_MAJOR)
        return sfb_fail(error, SFB_BAD_VERSION, "major version", 8);
    size = recording_get_le(header + 10, 2);
    if (size < RECORDING_HEADER_SIZE)
        return sfb_fail(error, SFB_BAD_HEADER, "header size", 10);
    if (size > r->source.size)
        return sfb_fail(error, SFB_TRUNCATED, "header", r->source.size);
    r->offset = size;
    return SFB_OK;
}

static enum sfb_status open_source(struct sfb_recording_reader **out,
                                   const struct sfb_recording_source *source,
                                   struct sfb_error *error)
{
    struct sfb_recording_reader *r = calloc(1, sizeof *r);
    enum sfb_status status;

    if (r == NULL)
        return sfb_fail(error, SFB_NO_RESOURCE, "memory", 0);
    r->source = *source;
    r->health.size = source->size;
    status = judge_header(r, error);
    if (status == SFB_OK)
        *out = r;
    else
        free(r);
    return status;
}

enum sfb_status sfb_recording_reader_open(struct sfb_recording_reader **out, const char *path,
                                          struct sfb_error *error)
{
    struct sfb_recording_source source;
    enum sfb_status status;

    if (out == NULL || path == NULL)
        return sfb_fail(error, SFB_BAD_ARGUMENT, "argument", 0);
    if (!sfb_recording_source_open(&source, path))
        return sfb_fail(error, SFB_NO_RESOURCE, "file", 0);
    status = open_source(out, &source, error);
    if (status != SFB_OK)
        sfb_recording_source_close(&source);
    return status;
}

enum sfb_status sfb_recording_reader_open_bytes(struct sfb_recording_reader **out,
                                                const void *bytes, size_t size,
                                                struct sfb_error *error)
{
    const struct sfb_recording_source source = { .fd = -1, .bytes = bytes, .size = size };

    if (out == NULL || (bytes == NULL && size > 0))
        return sfb_fail(error, SFB_BAD_ARGUMENT, "argument", 0);
    return open_source(out, &source, error);
}

void sfb_recording_reader_health(const struct sfb_recording_reader *r,
                                 struct sfb_recording_health *out)
{
    *out = r->health;
}

void sfb_recording_reader_close(struct sfb_recording_reader *r)
{
    if (r == NULL)
        return;
    sfb_recording_source_close(&r->source);
    sfb_ids_free(&r->introduced.processes);
    sfb_ids_free(&r->introduced.threads);
    sfb_ids_free(&r->introduced.stacks);
    sfb_ids_free(&r->introduced.sites);
    sfb_ids_free(&r->introduced.codes);
    sfb_ids_free(&r->introduced.awaited);
    sfb_heap_read_free(&r->heap);
    sfb_tree_free(r->events.tree);
    sfb_bytes_free(&r->stored);
    sfb_bytes_free(&r->unpacked);
    sfb_bytes_free(&r->text);
    free(r);
}
