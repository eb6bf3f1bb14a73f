#include "remote/eh_index.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/eh_frame.h"
#include "util/grow.h"

/*
 * .eh_frame_hdr, LSB: version, three encodings, where .eh_frame is, count, and the table. All words but
 * the count are signed and of 32 bits; offsets in the table count from the header.
 */
enum { PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b, HEADER = 12 };

struct entry {
    int32_t start, fde;
};

struct table {
    struct entry *entries;
    size_t count, room;
};

static int by_start(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static bool fits(uint64_t distance)
{
    return (int64_t)distance >= INT32_MIN && (int64_t)distance <= INT32_MAX;
}

/* @return false: no memory, or code further than 2 GiB from the header */
static bool list(struct table *out, const uint8_t *data, size_t size, uint64_t address,
                 uint64_t hdr, enum sfb_abi abi)
{
    struct sfb_eh_frame_walk walk;
    struct sfb_cfi_fde fde;
    enum sfb_status status = sfb_eh_frame_walk_init(&walk, data, size, address, abi);

    while (status == SFB_OK) {
        status = sfb_eh_frame_walk_next(&walk, &fde, NULL);
        if (status != SFB_OK)
            break;
        if (!fits(fde.start - hdr) || !fits(address + fde.offset - hdr) ||
            !array_make_room(&out->entries, out->count, &out->room, sizeof *out->entries))
            return false;
        out->entries[out->count++] =
            (struct entry){ (int32_t)(fde.start - hdr), (int32_t)(address + fde.offset - hdr) };
    }
    if (out->count > 0)
        qsort(out->entries, out->count, sizeof *out->entries, by_start);
    return out->count > 0 && out->count <= UINT32_MAX;
}

static void write_header(uint8_t *out, const struct table *table, uint64_t address, uint64_t hdr)
{
    const uint8_t encodings[4] = { 1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4 };
    const int32_t frames = (int32_t)(address - hdr - 4);
    const uint32_t count = (uint32_t)table->count;

    memcpy(out, encodings, sizeof encodings);
    memcpy(out + 4, &frames, sizeof frames);
    memcpy(out + 8, &count, sizeof count);
    memcpy(out + HEADER, table->entries, table->count * sizeof *table->entries);
}

bool remote_eh_index(struct sfb_eh_frame *out, void **memory, const struct object *object,
                     uint64_t bias)
{
    const struct object_cfi_place place = object_find_cfi(object);
    const uint64_t address = place.address + bias, room = (place.size + 7) & ~(uint64_t)7;
    struct table table = { .count = 0 };
    uint8_t *copy = NULL;
    bool good;

    *memory = NULL;
    if (place.result != OBJECT_CFI_FOUND || object->big)
        return false;
    good = list(&table, object->image + place.offset, place.size, address, address + room,
                (enum sfb_abi)object->abi);
    if (good)
        copy = malloc(room + HEADER + table.count * sizeof *table.entries);
    if (copy) {
        memset(copy, 0, room);
        memcpy(copy, object->image + place.offset, place.size);
        write_header(copy + room, &table, address, address + room);
        good =
            sfb_eh_frame_open(out, copy, room + HEADER + table.count * sizeof *table.entries,
                              address, address + room, (enum sfb_abi)object->abi, NULL) == SFB_OK;
    }
    free(table.entries);
    if (copy && good)
        *memory = copy;
    else
        free(copy);
    return *memory != NULL;
}
