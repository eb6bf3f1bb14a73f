#include "profiler/collector/heap/heap_ring.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/protocol/shared.h"

static const uint8_t words_of[] = {
    [SFB_HEAP_STACK] = 3,      [SFB_HEAP_ALLOC] = 4,          [SFB_HEAP_ALLOC_REALLOC] = 4,
    [SFB_HEAP_ALLOC_MMAP] = 4, [SFB_HEAP_FREE] = 2,           [SFB_HEAP_FREE_REALLOC] = 2,
    [SFB_HEAP_FREE_MMAP] = 3,  [SFB_HEAP_REALLOC_FAILED] = 2, [SFB_HEAP_NAME] = 3,
    [SFB_HEAP_CODE] = 4,
};

/* Rare: unread records are still there, and the new ones are appended. */
static bool append(struct sfb_heap_ring *r, const struct sfb_heap_intake_ring *more)
{
    if (r->from > 0) {
        memmove(r->bytes, r->bytes + r->from, r->size - r->from);
        r->size -= r->from;
        r->ahead = r->ahead > r->from ? r->ahead - r->from : 0;
        r->from = 0;
    }
    if (r->size + more->size > r->room) {
        const size_t room = 2 * (r->size + more->size);
        uint8_t *grown = realloc(r->bytes, room);

        if (!grown)
            return false;
        r->bytes = grown;
        r->room = room;
    }
    memcpy(r->bytes + r->size, more->bytes, more->size);
    r->size += more->size;
    return true;
}

static void exchange(struct sfb_heap_ring *r, struct sfb_heap_intake_ring *more)
{
    r->spare = r->bytes;
    r->spare_room = r->room;
    r->bytes = more->bytes;
    r->room = more->room;
    r->from = r->ahead = 0;
    r->size = more->size;
}

size_t sfb_heap_ring_fill(struct sfb_heap_ring *r, struct sfb_heap_intake *intake, uint32_t slot,
                          size_t *most, bool *whole)
{
    struct sfb_heap_intake_ring more = { .bytes = r->spare, .room = r->spare_room };
    const bool good = sfb_heap_intake_take(intake, slot, &more, whole);
    size_t dropped = 0;

    if (more.most > *most)
        *most = more.most;
    r->spare = more.bytes;
    r->spare_room = more.room;
    if (!good) {
        r->wrong = "its positions contradict each other";
        dropped = r->size - r->from;
        r->from = r->size = r->ahead = 0;
        r->position = more.position;
    }
    if (more.size == 0)
        return dropped;
    if (r->from == r->size)
        exchange(r, &more);
    else if (!append(r, &more))
        dropped += more.size;
    return dropped;
}

static void move(struct sfb_heap_ring *r, size_t size)
{
    r->from += size;
    r->position += size;
}

static bool drop(struct sfb_heap_ring *r, const char *wrong)
{
    r->wrong = wrong;
    move(r, r->size - r->from);
    return false;
}

static bool read_words(const struct sfb_heap_ring *r, struct sfb_heap_record *out, size_t room)
{
    const size_t words = out->kind < sizeof words_of ? words_of[out->kind] : 0;

    if (words == 0 || 8 * words > room)
        return false;
    out->size = 8 * words;
    memcpy(out->words, r->bytes + r->from, out->size);
    return true;
}

_Static_assert(sizeof(struct sfb_shared_code) == 4 * sizeof(uint64_t), "words of SFB_HEAP_CODE");

static size_t stack_size_of(const uint64_t *words)
{
    return (size_t)(words[2] & ((UINT64_C(1) << SFB_HEAP_CBF_BITS) - 1));
}

static size_t call_count_of(const uint64_t *words)
{
    return (size_t)(words[2] >> SFB_HEAP_CALLS_SHIFT & UINT16_MAX);
}

/* @return bytes of a record behind its words */
static size_t rest_of(uint32_t kind, const uint64_t *words)
{
    struct sfb_shared_code code;

    if (kind == SFB_HEAP_STACK)
        return ((stack_size_of(words) + 7) & ~(size_t)7) +
               call_count_of(words) * sizeof(struct sfb_shared_call);
    if (kind != SFB_HEAP_CODE)
        return 0;
    memcpy(&code, words, sizeof code);
    return ((size_t)code.name_size + code.file_size + code.lines_size + 7) & ~(size_t)7;
}

/* @return false: it is larger than the room left */
static bool read_rest(const struct sfb_heap_ring *r, struct sfb_heap_record *out, size_t room)
{
    const size_t rest = rest_of(out->kind, out->words);

    if (rest > room - out->size)
        return false;
    out->whole = r->bytes + r->from;
    out->stack = out->whole + out->size;
    out->stack_size = out->kind == SFB_HEAP_STACK ? stack_size_of(out->words) : 0;
    out->calls = out->stack + ((out->stack_size + 7) & ~(size_t)7);
    out->call_count = out->kind == SFB_HEAP_STACK ? call_count_of(out->words) : 0;
    out->size += rest;
    return true;
}

bool sfb_heap_ring_peek(struct sfb_heap_ring *r, struct sfb_heap_record *out, uint32_t ring_bytes,
                        uint64_t latest)
{
    while (r->from < r->size) {
        const size_t whole = ring_bytes - (size_t)(r->position % ring_bytes);
        const size_t left = r->size - r->from, room = left < whole ? left : whole;
        uint64_t first;

        memcpy(&first, r->bytes + r->from, sizeof first);
        out->kind = (uint32_t)(first & ((1U << SFB_HEAP_KIND_BITS) - 1));
        out->time = first >> SFB_HEAP_KIND_BITS;
        if (out->kind == SFB_HEAP_PAD) {
            move(r, room);
            continue;
        }
        if (!read_words(r, out, room))
            return drop(r, "an unknown record of the heap");
        if (!read_rest(r, out, room))
            return drop(r, "a record is larger than its ring");
        if (out->time < r->time || out->time > latest)
            out->time = r->time;
        return true;
    }
    return false;
}

void sfb_heap_ring_pass(struct sfb_heap_ring *r, const struct sfb_heap_record *record)
{
    r->time = record->time;
    move(r, record->size);
}

/* Behind a record that it does not understand, it goes on once that was read. */
bool sfb_heap_ring_ahead(struct sfb_heap_ring *r, uint64_t *pointer)
{
    enum { AHEAD = 512 };
    uint64_t words[SFB_HEAP_RING_WORDS] = { 0 };
    size_t size, least = 3 * sizeof *words;
    uint32_t kind;

    if (r->ahead < r->from)
        r->ahead = r->from;
    if (r->ahead - r->from > AHEAD || r->ahead > r->size || r->size - r->ahead < least)
        return false;
    memcpy(words, r->bytes + r->ahead, r->size - r->ahead < sizeof words ? least : sizeof words);
    kind = (uint32_t)(words[0] & ((1U << SFB_HEAP_KIND_BITS) - 1));
    size = kind < sizeof words_of ? 8 * (size_t)words_of[kind] : 0;
    if (size == 0)
        return false;
    r->ahead += size + rest_of(kind, words);
    *pointer = words[1];
    return true;
}

void sfb_heap_ring_free(struct sfb_heap_ring *r)
{
    free(r->bytes);
    free(r->spare);
    *r = (struct sfb_heap_ring){ 0 };
}
