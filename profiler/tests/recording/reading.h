/* What tests of recordings read with. */
#ifndef RECORDING_READING_H
#define RECORDING_READING_H

#include <stdbool.h>
#include <string.h>

#include "profiler/format/block.h"
#include "profiler/format/crc32c.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/same.h"
#include "support/test.h"

/* Without and with zstd. */
static inline const struct sfb_recording_packer *packer_of(size_t number)
{
    return number == 0 ? NULL : &sfb_recording_zstd;
}

static inline struct sfb_recording_reader *reader_of(const void *bytes, size_t size)
{
    struct sfb_recording_reader *reader = NULL;

    cr_assert(eq(int, sfb_recording_reader_open_bytes(&reader, bytes, size, NULL), SFB_OK));
    return reader;
}

static inline struct sfb_recording_health health_of(const struct sfb_recording_reader *reader)
{
    struct sfb_recording_health health;

    sfb_recording_reader_health(reader, &health);
    return health;
}

/* Reads to the end. @return events that were given */
static inline size_t read_all(struct sfb_recording_reader *reader)
{
    struct sfb_recording_event event;
    enum sfb_status status;
    size_t given = 0;

    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        given++;
    cr_assert(eq(int, status, SFB_END));
    cr_assert(eq(int, sfb_recording_reader_next(reader, &event), SFB_END));
    return given;
}

/* What was put, and no more. @return what the reader has found out */
static inline struct sfb_recording_health expect_made_events(const struct made *made)
{
    struct sfb_recording_reader *reader = reader_of(made->bytes, made->size);
    struct sfb_recording_health health;
    struct sfb_recording_event event;

    for (size_t i = 0; i < made_event_count; i++) {
        cr_assert(eq(int, sfb_recording_reader_next(reader, &event), SFB_OK), "%zu", i);
        cr_expect(same_event(&event, &made_events[i]), "%zu: kind %u for %u", i, event.kind,
                  made_events[i].kind);
    }
    cr_expect(eq(int, sfb_recording_reader_next(reader, &event), SFB_END));
    health = health_of(reader);
    sfb_recording_reader_close(reader);
    return health;
}

static inline bool is_whole(const struct sfb_recording_health *h)
{
    return h->finished && h->unknown_blocks + h->skipped + h->bad_blocks + h->torn +
                                  h->lost_records + h->bad_records + h->unknown_records ==
                              0;
}

/* Writes a block's header again, with sums that are right. */
static inline void seal(uint8_t *at)
{
    struct sfb_block block;

    recording_put_le(at + RECORDING_BLOCK_CRC, sfb_crc32c(0, at, RECORDING_BLOCK_CRC), 4);
    cr_assert(sfb_block_read(&block, at));
    block.crc = sfb_crc32c(0, at + RECORDING_BLOCK_HEADER_SIZE, block.stored);
    sfb_block_write(at, &block);
}

/* Offset of the block with this number: 0 is the start event's. */
static inline size_t block_at(const struct made *made, unsigned number)
{
    size_t at = RECORDING_HEADER_SIZE;
    struct sfb_block block;

    for (unsigned i = 0;; i++) {
        cr_assert(at + RECORDING_BLOCK_HEADER_SIZE <= made->size);
        cr_assert(sfb_block_read(&block, made->bytes + at));
        if (i == number)
            return at;
        at += RECORDING_BLOCK_HEADER_SIZE + block.stored;
    }
}

#endif
