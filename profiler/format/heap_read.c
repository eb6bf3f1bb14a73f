#include "profiler/format/heap_read.h"

#include <stdlib.h>

#include "base/leb128.h"
#include "profiler/format/body_parts.h"
#include "util/grow.h"

bool sfb_heap_read_begin(struct sfb_heap_reader *h, const uint8_t *payload, size_t size)
{
    struct sfb_reader in = { .pos = payload, .left = size };
    uint64_t sizes[HEAP_COLUMNS] = { 0 };
    uint64_t count;

    h->count = 0;
    h->time = 0;
    h->process = sfb_body_u32(&in);
    count = sfb_reader_uleb(&in);
    if (in.failed || count < HEAP_COLUMNS || count > in.left)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bytes = sfb_reader_uleb(&in);

        if (i < HEAP_COLUMNS) /* later columns: a later version's */
            sizes[i] = bytes;
    }
    for (size_t i = 0; i < HEAP_COLUMNS; i++) {
        h->columns[i] = (struct sfb_reader){ .pos = in.pos };
        sfb_reader_skip(&in, sizes[i]);
        if (in.failed)
            return false;
        h->columns[i].left = (size_t)sizes[i];
    }
    return true;
}

static enum sfb_record add_pair(struct sfb_heap_reader *h)
{
    const uint32_t last = h->count > 0 ? h->pairs[h->count - 1].site : 0;
    const int64_t more = sfb_reader_sleb(&h->columns[HEAP_SITES]);
    const uint64_t size = sfb_reader_uleb(&h->columns[HEAP_SIZES]);

    if (h->columns[HEAP_SITES].failed || h->columns[HEAP_SIZES].failed ||
        more > UINT32_MAX - (int64_t)last || more < -(int64_t)last ||
        h->count == RECORDING_PAIRS_MAX)
        return RECORD_CUT;
    if (!array_make_room(&h->pairs, h->count, &h->room, sizeof *h->pairs))
        return RECORD_NO_MEMORY;
    h->pairs[h->count].site = (uint32_t)(last + more);
    h->pairs[h->count++].size = size;
    return RECORD_GIVEN;
}

/* @return the symbol of the next event; HEAP_MARK: no more events */
static uint64_t next_symbol(struct sfb_heap_reader *h)
{
    struct sfb_reader *symbols = &h->columns[HEAP_SYMBOLS];
    uint64_t symbol = HEAP_MARK;

    while (symbols->left > 0 && (symbol = sfb_reader_uleb(symbols)) == HEAP_MARK) {
        h->time += sfb_reader_uleb(&h->columns[HEAP_TIMES]);
        if (symbols->failed || h->columns[HEAP_TIMES].failed)
            break;
    }
    return symbol;
}

enum sfb_record sfb_heap_read_next(struct sfb_heap_reader *h, struct sfb_introduced *introduced,
                                   struct sfb_recording_event *out)
{
    const uint64_t symbol = next_symbol(h);
    uint64_t pair;

    if (h->columns[HEAP_SYMBOLS].failed || h->columns[HEAP_TIMES].failed)
        return RECORD_CUT;
    if (symbol == HEAP_MARK)
        return RECORD_END;
    pair = h->count;
    if (symbol >= HEAP_ALLOCATED) {
        pair = (symbol - HEAP_ALLOCATED) / 2;
        if (pair >= h->count)
            return RECORD_CUT;
    } else {
        const enum sfb_record added = add_pair(h);

        if (added != RECORD_GIVEN)
            return added;
    }
    out->kind = SFB_EVENT_HEAP_EVENT;
    out->of.heap_event = (struct sfb_recording_heap_event){
        .process = h->process,
        .site = h->pairs[pair].site,
        .time = h->time,
        .size = h->pairs[pair].size,
        .freed = symbol % 2 == 0,
    };
    return sfb_introduce(introduced, out) ? RECORD_GIVEN : RECORD_BAD;
}

void sfb_heap_read_free(struct sfb_heap_reader *h)
{
    free(h->pairs);
    h->pairs = NULL;
    h->room = h->count = 0;
}
