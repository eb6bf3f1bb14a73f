/*
 * .eh_frame_hdr: a sorted table from the starts of functions to their entries, and where it is.
 *
 *     u8 version = 1, u8 encoding of eh_frame_ptr, u8 of the count, u8 of the table
 *     eh_frame_ptr, count, then count pairs of (start, address of the entry)
 */
#include "eh_frame/header.h"

#include "base/fail.h"
#include "base/load.h"
#include "eh_frame/entry.h"
#include "eh_frame/format.h"
#include "eh_frame/pointer.h"
#include "eh_frame/window.h"

enum sfb_status sfb_eh_frame_read_header(struct sfb_eh_frame *eh, struct sfb_error *error)
{
    const uint64_t hdr = eh->hdr;
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    /* In one struct gcc puts no padding between them: captures come here, and their stack is scarce. */
    struct {
        struct sfb_reader r;
        uint64_t count;
    } at = { .r = sfb_eh_window(eh, hdr, eh->size) };

    version = sfb_reader_u8(&at.r);
    frame_encoding = sfb_reader_u8(&at.r);
    count_encoding = sfb_reader_u8(&at.r);
    table_encoding = sfb_reader_u8(&at.r);
    if (at.r.failed)
        return sfb_fail(error, SFB_TRUNCATED, "version", hdr);
    if (version != 1)
        return sfb_fail(error, SFB_BAD_CFI, "version", hdr);
    /* Every linker writes this table; without it, a lookup would have to read all entries. */
    if (table_encoding != (EH_DATAREL | EH_SDATA4))
        return sfb_fail(error, SFB_BAD_CFI, "table_enc", hdr + 3);
    if (!sfb_eh_pointer(eh, &at.r, frame_encoding, &eh->frames))
        return sfb_fail(error, at.r.failed ? SFB_TRUNCATED : SFB_BAD_CFI, "eh_frame_ptr", hdr + 4);
    if (!sfb_eh_pointer(eh, &at.r, count_encoding, &at.count))
        return sfb_fail(error, at.r.failed ? SFB_TRUNCATED : SFB_BAD_CFI, "fde_count", hdr + 2);
    if (at.count > at.r.left / SFB_EH_PAIR_SIZE)
        return sfb_fail(error, SFB_TRUNCATED, "fde_count", hdr + 2);
    eh->table = sfb_eh_offset(eh, &at.r);
    eh->count = (uint32_t)at.count;
    return SFB_OK;
}

enum sfb_status sfb_eh_frame_open(struct sfb_eh_frame *out, const void *data, size_t size,
                                  uint64_t address, uint64_t hdr_address, enum sfb_abi abi,
                                  struct sfb_error *error)
{
    struct sfb_eh_frame eh;
    enum sfb_status status;

    if (!out || !sfb_eh_frame_place(&eh, data, size, address, hdr_address, abi))
        return SFB_BAD_ARGUMENT;
    status = sfb_eh_frame_read_header(&eh, error);
    if (status == SFB_OK)
        *out = eh;
    return status;
}

enum sfb_status sfb_eh_frame_extend(struct sfb_eh_frame *eh, const void *data, size_t size,
                                    uint64_t address)
{
    const bool below = eh && address < eh->address;
    uint64_t distance, low_size, high_size;

    if (!eh || !data || size > UINT32_MAX || eh->gap_end != 0 ||
        (uintptr_t)data - (uintptr_t)eh->data != address - eh->address)
        return SFB_BAD_ARGUMENT;
    distance = below ? eh->address - address : address - eh->address;
    low_size = below ? size : eh->size;
    high_size = below ? eh->size : size;
    if (distance < low_size || distance > UINT32_MAX - high_size)
        return SFB_BAD_ARGUMENT;
    if (below) {
        eh->data = data;
        eh->address = address;
        eh->hdr += (uint32_t)distance;
        eh->table += (uint32_t)distance;
    }
    if (distance > low_size) {
        eh->gap = (uint32_t)low_size;
        eh->gap_end = (uint32_t)distance;
    }
    eh->size = (uint32_t)(distance + high_size);
    return SFB_OK;
}

/*
 * @return the last of n > 0 starts that is not behind a place; the first if all are behind it.
 * Branchless: a branch would be mispredicted half of the time.
 */
SFB_INLINE uint32_t nearest(const uint8_t *table, uint32_t n, int64_t place, bool swap)
{
    const uint8_t *at = table;

    while (n > 1) {
        const uint8_t *middle = at + (size_t)(n / 2) * SFB_EH_PAIR_SIZE;

        at = sfb_load_i32(middle, swap) <= place ? middle : at;
        n -= n / 2;
    }
    return (uint32_t)((size_t)(at - table) / SFB_EH_PAIR_SIZE);
}

/* Gives the offset of an entry, from the table. */
static enum sfb_status entry_of(const struct sfb_eh_frame *eh, uint32_t index, uint32_t *out,
                                struct sfb_error *error)
{
    uint32_t at = eh->table + index * SFB_EH_PAIR_SIZE + 4;
    int64_t offset = (int64_t)eh->hdr + sfb_load_i32(eh->data + at, eh->swap);

    if (offset < 0 || offset >= eh->size)
        return sfb_fail(error, SFB_BAD_CFI, "table", at);
    *out = (uint32_t)offset;
    return SFB_OK;
}

enum sfb_status sfb_eh_frame_fde(const struct sfb_eh_frame *eh, uint32_t index,
                                 struct sfb_cfi_fde *out, struct sfb_error *error)
{
    uint32_t offset;
    enum sfb_status status;

    if (index >= eh->count)
        return SFB_BAD_ARGUMENT;
    status = entry_of(eh, index, &offset, error);
    return status == SFB_OK ? sfb_cfi_fde_read(out, eh, offset, error) : status;
}

enum sfb_status sfb_eh_frame_entry_find(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *entry,
                                        struct sfb_cfi_fde *out, struct sfb_error *error)
{
    const uint8_t *table = eh->data + eh->table;
    const int64_t place = (int64_t)(pc - (eh->address + eh->hdr));
    struct sfb_cfi_fde fde;
    uint32_t index, offset;
    enum sfb_status status;

    if (eh->count == 0)
        return SFB_NO_CFI;
    index =
        eh->swap ? nearest(table, eh->count, place, true) : nearest(table, eh->count, place, false);
    if (sfb_load_i32(table + (size_t)index * SFB_EH_PAIR_SIZE, eh->swap) > place)
        return SFB_NO_CFI;
    status = entry_of(eh, index, &offset, error);
    if (status != SFB_OK)
        return status;
    status = sfb_cfi_fde_read(&fde, eh, offset, error);
    if (status != SFB_OK)
        return status;
    if (pc < fde.start || pc >= fde.end)
        return SFB_NO_CFI;
    *entry = index;
    *out = fde;
    return SFB_OK;
}

enum sfb_status sfb_eh_frame_fde_find(const struct sfb_eh_frame *eh, uint64_t pc,
                                      struct sfb_cfi_fde *out, struct sfb_error *error)
{
    uint32_t entry;

    return sfb_eh_frame_entry_find(eh, pc, &entry, out, error);
}
