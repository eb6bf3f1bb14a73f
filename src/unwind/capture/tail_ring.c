#include "unwind/capture/tail_ring.h"

#include <string.h>

#include "sfb/cbf.h"

#define ENTRY SFB_CBF_FRAME_SIZE_MAX

/* Bytes of an omit, and the minimum for the inner frames. */
#define RESERVE (ENTRY + SFB_CBF_SIZE_MIN)

_Static_assert(ENTRY == 9, "eight bytes of address, one of kind and source");

size_t sfb_tail_ring_init(struct sfb_tail_ring *out, uint8_t *buffer, size_t size, size_t wanted)
{
    size_t fits = size > RESERVE ? (size - RESERVE) / 2 / ENTRY : 0;

    out->capacity = wanted < fits ? wanted : fits;
    out->ring = buffer + size - out->capacity * ENTRY;
    out->seen = 0;
    /* The omit between the two ends has its place from the start. */
    return out->capacity == 0 ? size : size - out->capacity * ENTRY - ENTRY;
}

void sfb_tail_ring_push(struct sfb_tail_ring *outer, enum sfb_frame_kind kind,
                        enum sfb_source source, uint64_t address)
{
    uint8_t *at = outer->ring + outer->seen % outer->capacity * ENTRY;

    memcpy(at, &address, sizeof address);
    at[8] = (uint8_t)((unsigned)kind | (unsigned)source << 4);
    outer->seen++;
}

size_t sfb_tail_ring_kept(const struct sfb_tail_ring *outer)
{
    return outer->seen < outer->capacity ? (size_t)outer->seen : outer->capacity;
}

static void reverse(uint8_t *entries, size_t first, size_t end)
{
    uint8_t swap[ENTRY];

    for (; first + 1 < end; first++, end--) {
        memcpy(swap, entries + first * ENTRY, ENTRY);
        memcpy(entries + first * ENTRY, entries + (end - 1) * ENTRY, ENTRY);
        memcpy(entries + (end - 1) * ENTRY, swap, ENTRY);
    }
}

/* Rotation in place by three reversals: there is no room for a copy. */
void sfb_tail_ring_linearise(struct sfb_tail_ring *outer)
{
    size_t oldest;

    if (outer->seen <= outer->capacity)
        return;
    oldest = (size_t)(outer->seen % outer->capacity);
    reverse(outer->ring, 0, oldest);
    reverse(outer->ring, oldest, outer->capacity);
    reverse(outer->ring, 0, outer->capacity);
}

struct sfb_tail_frame sfb_tail_ring_get(const struct sfb_tail_ring *outer, size_t index)
{
    const uint8_t *at = outer->ring + index * ENTRY;
    struct sfb_tail_frame frame = { .kind = (enum sfb_frame_kind)(at[8] & 15),
                                    .source = (enum sfb_source)(at[8] >> 4) };

    memcpy(&frame.address, at, sizeof frame.address);
    return frame;
}
