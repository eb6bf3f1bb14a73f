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

/* Whether the table has the other byte order. */
static bool swaps(const struct sframe_part *p, enum fix_kind table)
{
    return fix_is(p->fix, table) || fix_is(p->fix, FIX_SWAP_TABLES);
}

/* With an attribute outside of the table the function has no rows. */
static void read_attribute(struct sframe_entry *e, const struct sframe_part *p)
{
    const uint8_t *at = p->data + p->fre_at + e->row_at;

    e->attribute = sframe_fre_at(p, e->row_at);
    e->rows_lost = sframe_first_row(p, e) > p->fre_size;
    if (e->rows_lost)
        return;
    e->row_count = (uint32_t)bytes_load(at, 2, p->big != swaps(p, FIX_SWAP_ROWS));
    e->info = at[2];
    e->info2 = at[3];
    e->repeat = at[4];
}

/* The entry that a field is taken from: another one, if the fix is of that kind. */
static const uint8_t *entry_for(const struct sframe_part *p, uint32_t index, enum fix_kind kind)
{
    uint64_t i = index;

    if (fix_at(p->fix, kind, p->first + index))
        i = (index + (uint64_t)(p->fix->amount + (int64_t)p->fde_count)) % p->fde_count;
    return p->data + p->fde_at + i * p->version->entry_size;
}

/* sframe_rows_possible(), of the entry as it is. */
static bool rows_fit(const struct sframe_part *part, const struct sframe_entry *e, uint64_t *end)
{
    uint64_t position = sframe_first_row(part, e);
    uint32_t before = 0;

    for (uint32_t i = 0; i < e->row_count && !e->rows_lost; i++) {
        struct sframe_row r;
        struct sfb_rule rule;

        if ((e->info & FUNCTION_ROW_TYPE) > ROW_TYPE_MAX || position >= part->fre_size ||
            sframe_row_read(&r, part, e, position) != ROW_READ ||
            sframe_row_rule(&rule, part, e, &r) != NULL || (i == 0 && r.start != 0) ||
            (i > 0 && r.start <= before) || (r.start >= e->size && r.start > 0))
            return false;
        before = r.start;
        position += r.size;
    }
    *end = position;
    return e->row_count > 0 && !e->rows_lost;
}

static void change_type(struct sframe_entry *e, const struct sframe_part *p)
{
    const uint8_t info = e->info;
    uint64_t end;

    for (unsigned type = 0; type <= ROW_TYPE_MAX; type++) {
        if (rows_fit(p, e, &end))
            return;
        e->info = (uint8_t)((info & ~(unsigned)FUNCTION_ROW_TYPE) | type);
    }
    if (!rows_fit(p, e, &end))
        e->info = info;
}

/* Repairs what is read by now. */
static void fix_entry(struct sframe_entry *e, const struct sframe_part *p)
{
    const uint32_t i = p->first + e->index;

    if (fix_at(p->fix, FIX_SIZE, i))
        e->size += (uint32_t)p->fix->amount;
    if (fix_at(p->fix, FIX_ROW_COUNT, i))
        e->row_count += (uint32_t)p->fix->amount;
    if (fix_at(p->fix, FIX_INFO, i))
        e->info ^= (uint8_t)p->fix->amount;
    if (fix_at(p->fix, FIX_ROW_TYPE, i))
        change_type(e, p);
}

/* Takes the rows from elsewhere, if they are impossible where they are, and possible there. */
static void move_rows(struct sframe_entry *e, const struct sframe_part *p)
{
    const uint32_t to = e->row_at + (uint32_t)p->fix->amount;
    uint64_t end;

    if (sframe_rows_possible(p, e, e->row_at, &end) || !sframe_rows_possible(p, e, to, &end))
        return;
    e->row_at = to;
    if (p->version->has_attribute)
        read_attribute(e, p);
}

static void read_entry(struct sframe_entry *e, const struct sframe_part *p, uint32_t index)
{
    const struct sframe_version *v = p->version;
    const uint8_t *at = entry_for(p, index, FIX_SIZE_NEIGHBOUR);
    const bool big = p->big != swaps(p, FIX_SWAP_ENTRIES);

    *e = (struct sframe_entry){ .index = index };
    e->raw_start = bytes_load_signed(entry_for(p, index, FIX_START_RAW), v->start_size, big);
    e->size = (uint32_t)bytes_load(at + v->start_size, 4, big);
    at = entry_for(p, index, FIX_ROWS_NEIGHBOUR) + v->start_size;
    e->row_at = (uint32_t)bytes_load(at + 4, 4, big);
    if (v->has_attribute) {
        read_attribute(e, p);
    } else {
        e->row_count = (uint32_t)bytes_load(at + 8, 4, big);
        e->info = at[12];
        if (v->has_repeat_size)
            e->repeat = at[13];
        if (v->has_padding)
            e->padding = (uint16_t)bytes_load(at + 14, 2, big);
    }
    if (fix_at(p->fix, FIX_ROWS_AT, p->first + index))
        move_rows(e, p);
    fix_entry(e, p);
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
    const bool big = part->big != swaps(part, FIX_SWAP_ENTRIES);

    for (uint32_t i = 0; i < part->fde_count; i++) {
        const uint8_t *at = entry_for(part, i, FIX_START_RAW);

        part->entries[i].raw_start = bytes_load_signed(section + part->offset + (at - part->data),
                                                       part->version->start_size, big);
    }
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

bool sframe_part_fix_starts(struct sframe_part *part)
{
    const struct sframe_fix *fix = part->fix;
    uint64_t *starts;

    for (uint32_t i = 0; i < part->fde_count; i++)
        if (fix_at(fix, FIX_START, part->first + i))
            part->entries[i].start += (uint64_t)fix->amount;
    if (!fix_is(fix, FIX_START_NEIGHBOUR) || part->fde_count == 0)
        return true;
    starts = calloc(part->fde_count, sizeof *starts);
    if (!starts)
        return false;
    for (uint32_t i = 0; i < part->fde_count; i++)
        starts[i] = part->entries[i].start;
    for (uint32_t i = 0; i < part->fde_count; i++)
        if (fix_at(fix, FIX_START_NEIGHBOUR, part->first + i))
            part->entries[i].start =
                starts[(i + (uint64_t)(fix->amount + (int64_t)part->fde_count)) % part->fde_count];
    free(starts);
    return true;
}

void sframe_part_free(struct sframe_part *part)
{
    free(part->entries);
    part->entries = NULL;
}

/* Words are of a file: their sum may be of any size. */
static int32_t add(int32_t word, int64_t amount)
{
    return (int32_t)((uint32_t)word + (uint32_t)amount);
}

/* Repairs a row of a function. @param first  whether it is its first one */
static void fix_row(struct sframe_row *r, const struct sframe_part *p, const struct sframe_entry *e,
                    bool first)
{
    const struct sframe_fix *fix = p->fix;
    const uint32_t i = p->first + e->index;

    if (!fix || i < fix->from || i >= fix->to)
        return;
    if (fix->kind == FIX_ROW_START && !(first && r->start == 0))
        r->start += (uint32_t)fix->amount;
    if (fix->kind == FIX_ROW_SCALE)
        r->start = fix->amount > 0 ? r->start << fix->amount : r->start >> -fix->amount;
    if (fix->kind == FIX_BASE)
        r->info ^= ROW_BASE_SP;
    if (fix->kind == FIX_SIGNED)
        r->info ^= ROW_MANGLED;
    if (fix->kind == FIX_CFA && r->count > 0)
        r->word[0] = add(r->word[0], fix->amount);
    for (unsigned k = 1; fix->kind == FIX_SAVED && k < r->count; k++)
        r->word[k] = add(r->word[k], fix->amount);
    if (fix->kind == FIX_SAVED_SWAP && r->count == 3) {
        const int32_t word = r->word[1];

        r->word[1] = r->word[2];
        r->word[2] = word;
    }
}

enum sframe_row_result sframe_row_read(struct sframe_row *out, const struct sframe_part *part,
                                       const struct sframe_entry *entry, uint64_t position)
{
    const bool big = part->big != swaps(part, FIX_SWAP_ROWS);
    const uint32_t start_size = UINT32_C(1) << (entry->info & 3);
    const uint64_t head = position + start_size + 1;
    const uint8_t *at = part->data + part->fre_at + position;

    if (head > part->fre_size)
        return ROW_CUT;
    *out = (struct sframe_row){ .at = (uint32_t)position };
    out->start = (uint32_t)bytes_load(at, start_size, big);
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
                                                  (size_t)1 << out->width, big);
    if (part->fix)
        fix_row(out, part, entry, position == sframe_first_row(part, entry));
    return ROW_READ;
}

bool sframe_rows_possible(const struct sframe_part *part, const struct sframe_entry *entry,
                          uint64_t row_at, uint64_t *end)
{
    struct sframe_entry e = *entry;

    e.row_at = (uint32_t)row_at;
    if (row_at > part->fre_size)
        return false;
    if (part->version->has_attribute)
        read_attribute(&e, part);
    return rows_fit(part, &e, end);
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
