#include "toolchain/check/part.h"

#include <stdlib.h>

#include <sfb/abi.h>

#include "toolchain/check/bytes.h"

uint64_t sframe_entry_at(const struct sframe_part *part, uint32_t index)
{
    return part->offset + part->fde_at + (uint64_t)index * part->version->entry_size;
}

uint64_t sframe_field_at(const struct sframe_part *part, const struct sframe_entry *entry,
                         enum sframe_field field)
{
    static const uint8_t in_attribute[] = {
        [FIELD_ROW_COUNT] = 0, [FIELD_INFO] = 2, [FIELD_INFO2] = 3, [FIELD_REPEAT] = 4
    };
    const unsigned start = part->version->start_size;
    const uint64_t at = sframe_entry_at(part, entry->index);

    if (part->version->has_attribute && field > FIELD_ROW_AT && field != FIELD_PADDING)
        return entry->attribute + in_attribute[field];
    switch (field) {
    case FIELD_START: return at;
    case FIELD_SIZE: return at + start;
    case FIELD_ROW_AT: return at + start + 4;
    case FIELD_ROW_COUNT: return at + start + 8;
    case FIELD_INFO: return at + start + 12;
    case FIELD_INFO2: /* only version 3 has it, in the attribute */
    case FIELD_REPEAT: return at + start + 13;
    case FIELD_PADDING: return at + start + 14;
    }
    return at;
}

uint64_t sframe_fre_at(const struct sframe_part *part, uint64_t position)
{
    return part->offset + part->fre_at + position;
}

uint64_t sframe_first_row(const struct sframe_part *part, const struct sframe_entry *entry)
{
    return (uint64_t)entry->row_at + sframe_attribute_size(part->version);
}

/* With an attribute outside of the table the function has no rows. */
static void read_attribute(struct sframe_entry *e, const struct sframe_part *p)
{
    const uint8_t *at = p->data + p->fre_at + e->row_at;

    e->attribute = sframe_fre_at(p, e->row_at);
    e->rows_lost = sframe_first_row(p, e) > p->fre_size;
    if (e->rows_lost)
        return;
    e->row_count = (uint32_t)bytes_load(at, 2, p->big);
    e->info = at[2];
    e->info2 = at[3];
    e->repeat = at[4];
}

static void read_entry(struct sframe_entry *e, const struct sframe_part *p, uint32_t index)
{
    const struct sframe_version *v = p->version;
    const uint8_t *at = p->data + p->fde_at + (uint64_t)index * v->entry_size;

    *e = (struct sframe_entry){ .index = index };
    e->raw_start = bytes_load_signed(at, v->start_size, p->big);
    at += v->start_size;
    e->size = (uint32_t)bytes_load(at, 4, p->big);
    e->row_at = (uint32_t)bytes_load(at + 4, 4, p->big);
    if (v->has_attribute) {
        read_attribute(e, p);
        return;
    }
    e->row_count = (uint32_t)bytes_load(at + 8, 4, p->big);
    e->info = at[12];
    if (v->has_repeat_size)
        e->repeat = at[13];
    if (v->has_padding)
        e->padding = (uint16_t)bytes_load(at + 14, 2, p->big);
}

bool sframe_part_read(struct sframe_part *part)
{
    part->entries = calloc(part->fde_count ? part->fde_count : 1, sizeof *part->entries);
    if (!part->entries)
        return false;
    for (uint32_t i = 0; i < part->fde_count; i++)
        read_entry(&part->entries[i], part, i);
    return true;
}

void sframe_part_relocate(struct sframe_part *part, const uint8_t *section)
{
    for (uint32_t i = 0; i < part->fde_count; i++)
        part->entries[i].raw_start = bytes_load_signed(section + sframe_entry_at(part, i),
                                                       part->version->start_size, part->big);
}

void sframe_part_place(struct sframe_part *part, bool from_fields)
{
    for (uint32_t i = 0; i < part->fde_count; i++) {
        struct sframe_entry *e = &part->entries[i];
        const uint64_t base = from_fields ? sframe_entry_at(part, i) : 0;

        e->start = part->address - part->offset + base + (uint64_t)e->raw_start;
    }
}

void sframe_part_shift(struct sframe_part *part, int64_t shift)
{
    for (uint32_t i = 0; shift != 0 && i < part->fde_count; i++)
        part->entries[i].start += (uint64_t)shift;
}

void sframe_part_free(struct sframe_part *part)
{
    free(part->entries);
    part->entries = NULL;
}

enum sframe_row_result sframe_row_read(struct sframe_row *out, const struct sframe_part *part,
                                       const struct sframe_entry *entry, uint64_t position)
{
    const uint32_t start_size = UINT32_C(1) << (entry->info & 3);
    const uint64_t head = position + start_size + 1;
    const uint8_t *at = part->data + part->fre_at + position;

    if (head > part->fre_size)
        return ROW_CUT;
    *out = (struct sframe_row){ .at = (uint32_t)position };
    out->start = (uint32_t)bytes_load(at, start_size, part->big);
    out->info = at[start_size];
    out->count = out->info >> 1 & 15;
    out->width = out->info >> 5 & 3;
    if (out->width == ROW_WIDTH_UNKNOWN)
        return ROW_UNKNOWN_WIDTH;
    out->size = start_size + 1 + ((uint32_t)out->count << out->width);
    if (position + out->size > part->fre_size)
        return ROW_CUT;
    at += start_size + 1;
    for (unsigned i = 0; i < out->count; i++)
        out->word[i] = (int32_t)bytes_load_signed(at + ((size_t)i << out->width),
                                                  (size_t)1 << out->width, part->big);
    return ROW_READ;
}

uint32_t sframe_repeat(const struct sframe_part *part, const struct sframe_entry *entry)
{
    if ((entry->info & FUNCTION_PCMASK) == 0)
        return 0;
    return part->version->has_repeat_size ? entry->repeat : SFRAME_PLT_ENTRY;
}

bool sframe_is_flex(const struct sframe_entry *entry)
{
    return (entry->info2 & FUNCTION_TYPE) == FUNCTION_TYPE_FLEX;
}

unsigned sframe_most_words(const struct sframe_part *part)
{
    return 1u + (part->fixed_ra == 0) + (part->fixed_fp == 0);
}
