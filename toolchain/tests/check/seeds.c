#include "toolchain/tests/check/seeds.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/sframe.h"
#include "toolchain/check/bytes.h"

/* ---- fields ---- */

static uint8_t *entry(const struct seed_file *f, uint32_t i)
{
    return f->section + f->fde_at + (size_t)i * f->version->entry_size;
}

static uint64_t get(const struct seed_file *f, const uint8_t *at, size_t width)
{
    return bytes_load(at, width, f->big);
}

static void put(const struct seed_file *f, uint8_t *at, size_t width, uint64_t value)
{
    bytes_store(at, width, value, f->big);
}

/* A start, from the section on. */
static int64_t start_of(const struct seed_file *f, uint32_t i)
{
    const uint8_t *at = entry(f, i);

    return bytes_load_signed(at, f->version->start_size, f->big) + (f->pcrel ? at - f->section : 0);
}

static void set_start(const struct seed_file *f, uint32_t i, int64_t start)
{
    uint8_t *at = entry(f, i);

    put(f, at, f->version->start_size, (uint64_t)(start - (f->pcrel ? at - f->section : 0)));
}

static uint8_t *size_at(const struct seed_file *f, uint32_t i)
{
    return entry(f, i) + f->version->start_size;
}

static uint8_t *row_at(const struct seed_file *f, uint32_t i)
{
    return size_at(f, i) + 4;
}

/* The attribute of version 3, or the fields in its place. */
static uint8_t *count_at(const struct seed_file *f, uint32_t i)
{
    return f->version->has_attribute ? f->section + f->fre_at + get(f, row_at(f, i), 4)
                                     : row_at(f, i) + 4;
}

static size_t count_size(const struct seed_file *f)
{
    return f->version->has_attribute ? 2 : 4;
}

static uint8_t *info_at(const struct seed_file *f, uint32_t i)
{
    return count_at(f, i) + count_size(f);
}

/* Calls for each row of each function, once a row. */
typedef void row_visitor(const struct seed_file *f, uint8_t *row, size_t start_size, bool first);

static void each_row(struct seed_file *f, uint32_t from, uint32_t to, row_visitor *visit)
{
    bool *seen = calloc(f->fre_size, sizeof *seen);

    for (uint32_t i = from; i < to; i++) {
        const size_t start_size = (size_t)1 << (*info_at(f, i) & 3);
        const uint64_t rows = get(f, count_at(f, i), count_size(f));
        uint8_t *at =
            f->section + f->fre_at + get(f, row_at(f, i), 4) + sframe_attribute_size(f->version);

        for (uint64_t k = 0; k < rows; k++) {
            const uint8_t info = at[start_size];
            const size_t size = start_size + 1 + ((size_t)(info >> 1 & 15) << (info >> 5 & 3));
            bool *mark = &seen[at - f->section - (ptrdiff_t)f->fre_at];

            if (!*mark)
                visit(f, at, start_size, k == 0);
            *mark = true;
            at += size;
        }
    }
    free(seen);
}

/* ---- starts ---- */

static void shift_starts(struct seed_file *f, uint32_t from, uint32_t to, int64_t by)
{
    for (uint32_t i = from; i < to; i++)
        set_start(f, i, start_of(f, i) + by);
}

static void starts_all(struct seed_file *f)
{
    shift_starts(f, 0, f->count, 16);
}

static void starts_half(struct seed_file *f)
{
    shift_starts(f, f->count / 2, f->count, 64);
}

static void starts_third(struct seed_file *f)
{
    shift_starts(f, f->count / 3, f->count * 2 / 3, -32);
}

static void starts_share(struct seed_file *f)
{
    shift_starts(f, f->count - 40, f->count - 10, 0x1000);
}

static void starts_other_way(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        uint8_t *at = entry(f, i);

        put(f, at, f->version->start_size,
            (uint64_t)(bytes_load_signed(at, f->version->start_size, f->big) +
                       (f->pcrel ? at - f->section : f->section - at)));
    }
}

static void rotate_starts(struct seed_file *f, uint32_t by)
{
    int64_t *starts = calloc(f->count, sizeof *starts);

    for (uint32_t i = 0; i < f->count; i++)
        starts[i] = start_of(f, i);
    for (uint32_t i = 0; i < f->count; i++)
        set_start(f, i, starts[(i + by) % f->count]);
    free(starts);
}

static void starts_of_next(struct seed_file *f)
{
    rotate_starts(f, 1);
}

static void starts_of_last(struct seed_file *f)
{
    rotate_starts(f, f->count - 1);
}

/* Rotates `width` bytes of all entries, from `at` on, by one entry. */
static void rotate_field(struct seed_file *f, size_t at, size_t width)
{
    uint8_t first[32];

    memcpy(first, entry(f, 0) + at, width);
    for (uint32_t i = 0; i + 1 < f->count; i++)
        memcpy(entry(f, i) + at, entry(f, i + 1) + at, width);
    memcpy(entry(f, f->count - 1) + at, first, width);
}

static void fields_of_next(struct seed_file *f)
{
    rotate_field(f, 0, f->version->start_size);
}

static void sizes_of_next(struct seed_file *f)
{
    rotate_field(f, f->version->start_size, 4);
}

static void rows_of_next(struct seed_file *f)
{
    const size_t at = f->version->start_size + (size_t)4;

    rotate_field(f, at, f->version->entry_size - at);
}

static void starts_zero(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        put(f, entry(f, i), f->version->start_size, 0);
}

/* ---- sizes, offsets, counts, info ---- */

static void sizes_more(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        put(f, size_at(f, i), 4, get(f, size_at(f, i), 4) + 16);
}

static void sizes_to_next(struct seed_file *f)
{
    for (uint32_t i = 0; i + 1 < f->count; i++)
        put(f, size_at(f, i), 4, (uint64_t)(start_of(f, i + 1) - start_of(f, i)));
}

static void sizes_zero(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        put(f, size_at(f, i), 4, 0);
}

static void rows_half_not_rebased(struct seed_file *f)
{
    uint64_t middle = f->fre_size;

    for (uint32_t i = f->count / 2; i < f->count; i++)
        if (get(f, row_at(f, i), 4) > f->fre_size / 2 && get(f, row_at(f, i), 4) < middle)
            middle = get(f, row_at(f, i), 4);
    for (uint32_t i = 0; i < f->count; i++)
        if (get(f, row_at(f, i), 4) >= middle)
            put(f, row_at(f, i), 4, get(f, row_at(f, i), 4) - middle);
}

static void rows_by(struct seed_file *f, int64_t by)
{
    for (uint32_t i = 0; i < f->count; i++)
        put(f, row_at(f, i), 4, get(f, row_at(f, i), 4) + (uint64_t)by);
}

static void rows_four_late(struct seed_file *f)
{
    rows_by(f, 4);
}

static void rows_from_entries(struct seed_file *f)
{
    rows_by(f, (int64_t)(f->fre_at - f->fde_at));
}

static void rows_one_less(struct seed_file *f)
{
    bool *seen = calloc(f->fre_at + f->fre_size, sizeof *seen);

    for (uint32_t i = 0; i < f->count; i++) {
        uint8_t *at = count_at(f, i);

        if (!seen[at - f->section])
            put(f, at, count_size(f), get(f, at, count_size(f)) - 1);
        seen[at - f->section] = true;
    }
    free(seen);
}

static void rows_none(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        put(f, count_at(f, i), count_size(f), 0);
}

static void change_info(struct seed_file *f, uint8_t keep, uint8_t set)
{
    for (uint32_t i = 0; i < f->count; i++)
        *info_at(f, i) = (uint8_t)((*info_at(f, i) & keep) | set);
}

static void type_of_four_bytes(struct seed_file *f)
{
    change_info(f, 0xf0, 2);
}

static void type_of_one_byte(struct seed_file *f)
{
    change_info(f, 0xf0, 0);
}

static void all_pcmask(struct seed_file *f)
{
    change_info(f, 0xff, FUNCTION_PCMASK);
}

static void all_signal(struct seed_file *f)
{
    change_info(f, 0xff, FUNCTION_SIGNAL);
}

static void all_key_b(struct seed_file *f)
{
    change_info(f, 0xff, FUNCTION_KEY_B);
}

/* ---- rows ---- */

static void add_to_word(const struct seed_file *f, uint8_t *row, size_t start_size, unsigned word,
                        int by)
{
    const uint8_t info = row[start_size];
    const size_t width = (size_t)1 << (info >> 5 & 3);
    uint8_t *at = row + start_size + 1 + word * width;

    if (word < (info >> 1 & 15u))
        put(f, at, width, get(f, at, width) + (uint64_t)by);
}

static void cfa_less(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    (void)first;
    add_to_word(f, row, start_size, 0, -8);
}

static void cfa_more(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    (void)first;
    add_to_word(f, row, start_size, 0, 8);
}

static void saved_less(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    (void)first;
    add_to_word(f, row, start_size, 1, -8);
}

static void other_base(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    (void)f;
    (void)first;
    row[start_size] ^= ROW_BASE_SP;
}

static void start_by(const struct seed_file *f, uint8_t *row, size_t start_size, bool first, int by)
{
    if (!first)
        put(f, row, start_size, get(f, row, start_size) + (uint64_t)by);
}

static void start_more(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    start_by(f, row, start_size, first, 1);
}

static void start_less(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    start_by(f, row, start_size, first, -1);
}

static void start_far(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    start_by(f, row, start_size, first, 4);
}

static void reverse(uint8_t *at, size_t width)
{
    for (size_t i = 0; i < width / 2; i++) {
        const uint8_t byte = at[i];

        at[i] = at[width - 1 - i];
        at[width - 1 - i] = byte;
    }
}

static void row_bytes(const struct seed_file *f, uint8_t *row, size_t start_size, bool first)
{
    const uint8_t info = row[start_size];
    const size_t width = (size_t)1 << (info >> 5 & 3);

    (void)f;
    (void)first;
    for (unsigned i = 0; i < (info >> 1 & 15u); i++)
        reverse(row + start_size + 1 + i * width, width);
    reverse(row, start_size);
}

#define ROWS(name, visit)                                                                          \
    static void name(struct seed_file *f)                                                          \
    {                                                                                              \
        each_row(f, 0, f->count, visit);                                                           \
    }

ROWS(rows_cfa_less, cfa_less)
ROWS(rows_cfa_more, cfa_more)
ROWS(rows_saved_less, saved_less)
ROWS(rows_other_base, other_base)
ROWS(rows_start_more, start_more)
ROWS(rows_start_less, start_less)
ROWS(rows_start_far, start_far)

static void rows_cfa_of_some(struct seed_file *f)
{
    each_row(f, f->count / 4, f->count / 2, cfa_less);
}

/* ---- the header, the order of bytes and of entries ---- */

static void header_version(struct seed_file *f)
{
    f->section[AT_HEADER_VERSION] = f->version->number == 1 ? 2 : 1;
}

static void header_abi(struct seed_file *f)
{
    f->section[AT_HEADER_ABI] = 2;
}

static void header_fixed_ra(struct seed_file *f)
{
    f->section[AT_HEADER_FIXED_RA] = 0xf0;
}

static void header_entries_at(struct seed_file *f)
{
    put(f, f->section + AT_HEADER_FDE_AT, 4, 4);
}

static void header_rows_at(struct seed_file *f)
{
    put(f, f->section + AT_HEADER_FRE_AT, 4, f->fre_at - SFRAME_HEADER_SIZE + 8);
    put(f, f->section + AT_HEADER_FRE_SIZE, 4, f->fre_size - 8);
}

static void header_fewer(struct seed_file *f)
{
    put(f, f->section + AT_HEADER_FDES, 4, f->count / 2);
}

static void header_aux(struct seed_file *f)
{
    f->section[AT_HEADER_AUX] = 4;
    put(f, f->section + AT_HEADER_FRE_SIZE, 4, f->fre_size - 4);
}

static void section_address(struct seed_file *f)
{
    uint8_t *at = f->image + f->section_header_at + 16;

    put(f, at, 8, get(f, at, 8) + 0x10000);
}

/* Without the padding: 18 bytes instead of 20. */
static void entries_packed(struct seed_file *f)
{
    for (uint32_t i = 1; i < f->count; i++)
        memmove(f->section + f->fde_at + (size_t)i * 18, entry(f, i), 18);
}

static void entry_bytes(struct seed_file *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        uint8_t *at = entry(f, i);

        reverse(at, f->version->start_size);
        for (size_t k = f->version->start_size; k + 4 <= f->version->start_size + (size_t)8; k += 4)
            reverse(at + k, 4);
        if (!f->version->has_attribute)
            reverse(at + f->version->start_size + 8, 4);
    }
}

static void swap_counts(struct seed_file *f)
{
    bool *seen = calloc(f->fre_at + f->fre_size, sizeof *seen);

    for (uint32_t i = 0; i < f->count; i++) {
        uint8_t *at = count_at(f, i);

        if (!seen[at - f->section])
            reverse(at, 2);
        seen[at - f->section] = true;
    }
    free(seen);
}

static void all_bytes(struct seed_file *f)
{
    each_row(f, 0, f->count, row_bytes);
    if (f->version->has_attribute)
        swap_counts(f);
    entry_bytes(f);
}

/* Puts entries into another order; starts stay right. */
static void reorder(struct seed_file *f, uint32_t (*from)(uint32_t i, uint32_t count))
{
    const size_t size = f->count * (size_t)f->version->entry_size;
    uint8_t *copy = malloc(size);
    int64_t *starts = calloc(f->count, sizeof *starts);

    memcpy(copy, f->section + f->fde_at, size);
    for (uint32_t i = 0; i < f->count; i++)
        starts[i] = start_of(f, i);
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t k = from(i, f->count);

        memcpy(entry(f, i), copy + (size_t)k * f->version->entry_size, f->version->entry_size);
        set_start(f, i, starts[k]);
    }
    free(starts);
    free(copy);
}

static uint32_t from_third(uint32_t i, uint32_t count)
{
    return (i + count / 3) % count;
}

static uint32_t from_end(uint32_t i, uint32_t count)
{
    return count - 1 - i;
}

static uint32_t from_shares(uint32_t i, uint32_t count)
{
    const uint32_t even = (count + 1) / 2;

    return i < even ? 2 * i : 2 * (i - even) + 1;
}

static uint32_t from_first_half(uint32_t i, uint32_t count)
{
    return i % (count / 2);
}

static void order_rotated(struct seed_file *f)
{
    reorder(f, from_third);
}

static void order_descending(struct seed_file *f)
{
    reorder(f, from_end);
}

static void order_of_shares(struct seed_file *f)
{
    reorder(f, from_shares);
}

static void first_half_twice(struct seed_file *f)
{
    reorder(f, from_first_half);
}

/* The functions of another build: other distances. */
static void another_build(struct seed_file *f)
{
    int64_t at = start_of(f, 0) + 24;

    for (uint32_t i = 0; i < f->count; i++) {
        const uint64_t size = (get(f, size_at(f, i), 4) & ~UINT64_C(7)) + 8 * (i % 5) + 8;

        set_start(f, i, at);
        put(f, size_at(f, i), 4, size);
        at += (int64_t)((size * 3 / 4 + 15) & ~UINT64_C(15));
    }
}

/* The rows stay, and move up to the entries. */
static void forty_lost(struct seed_file *f)
{
    const size_t gone = (size_t)40 * f->version->entry_size;

    memmove(f->section + f->fre_at - gone, f->section + f->fre_at, f->fre_size);
    memset(f->section + f->fre_at - gone + f->fre_size, 0, gone);
    put(f, f->section + AT_HEADER_FDES, 4, f->count - 40);
    put(f, f->section + AT_HEADER_FRE_AT, 4, f->fre_at - SFRAME_HEADER_SIZE - gone);
}

const struct seed_kind seed_kinds[] = {
    { "all starts 16 too high", SEED_ALL, CODE_CAUSE_SHIFT, starts_all },
    { "starts counted the other way", SEED_V2 | SEED_V3, CODE_CAUSE_STARTS, starts_other_way },
    { "the version of another release", SEED_ALL, CODE_CAUSE_VERSION, header_version },
    { "half of the starts 64 too high", SEED_ALL, CODE_CAUSE_PART, starts_half },
    { "a third of the starts 32 too low", SEED_ALL, CODE_CAUSE_PART, starts_third },
    { "thirty starts 0x1000 too high", SEED_ALL, CODE_CAUSE_PART, starts_share },
    { "the start of the next entry", SEED_ALL, CODE_CAUSE_NEIGHBOUR, starts_of_next },
    { "the start of the entry before", SEED_ALL, CODE_CAUSE_NEIGHBOUR, starts_of_last },
    { "the field of the next entry's start", SEED_ALL, CODE_CAUSE_NEIGHBOUR, fields_of_next },
    { "the size of the next entry", SEED_ALL, CODE_CAUSE_NEIGHBOUR, sizes_of_next },
    { "the rows of the next entry", SEED_ALL, CODE_CAUSE_NEIGHBOUR, rows_of_next },
    { "half of the rows' offsets not rebased", SEED_ALL, CODE_CAUSE_ROWS_AT,
      rows_half_not_rebased },
    { "all offsets of rows 4 too high", SEED_ALL, CODE_CAUSE_ROWS_AT, rows_four_late },
    { "offsets of rows count from the entries", SEED_ALL, CODE_CAUSE_ROWS_AT, rows_from_entries },
    { "each CFA 8 too low", SEED_ALL, CODE_CAUSE_ROW_VALUE, rows_cfa_less },
    { "each CFA 8 too high", SEED_ALL, CODE_CAUSE_ROW_VALUE, rows_cfa_more },
    { "the CFA of a quarter 8 too low", SEED_V1 | SEED_V2 | SEED_V3, CODE_CAUSE_ROW_VALUE,
      rows_cfa_of_some },
    { "sp for fp, fp for sp", SEED_ALL, CODE_CAUSE_ROW_VALUE, rows_other_base },
    { "saved registers 8 too low", SEED_ALL, CODE_CAUSE_ROW_VALUE, rows_saved_less },
    { "rows one byte late", SEED_ALL, CODE_CAUSE_ROW_START, rows_start_more },
    { "rows one byte early", SEED_ALL, CODE_CAUSE_ROW_START, rows_start_less },
    { "rows four bytes late", SEED_ALL, CODE_CAUSE_ROW_START, rows_start_far },
    { "the header's ABI", SEED_ALL, CODE_CAUSE_HEADER, header_abi },
    { "the header's fixed offset of RA", SEED_ALL, CODE_CAUSE_HEADER, header_fixed_ra },
    { "the header's offset of entries", SEED_ALL, CODE_CAUSE_HEADER, header_entries_at },
    { "the header's offset of rows", SEED_ALL, CODE_CAUSE_HEADER, header_rows_at },
    { "the header's number of functions", SEED_ALL, CODE_CAUSE_HEADER, header_fewer },
    { "the header's auxiliary size", SEED_ALL, CODE_CAUSE_HEADER, header_aux },
    { "entries without padding", SEED_V2, CODE_CAUSE_ENTRY_SIZE, entries_packed },
    { "entries of the other byte order", SEED_ALL, CODE_CAUSE_BYTES, entry_bytes },
    { "both tables of the other byte order", SEED_ALL, CODE_CAUSE_BYTES, all_bytes },
    { "a rotated table", SEED_ALL, CODE_CAUSE_ORDER, order_rotated },
    { "a descending table", SEED_ALL, CODE_CAUSE_ORDER, order_descending },
    { "two tables, one behind the other", SEED_ALL, CODE_CAUSE_ORDER, order_of_shares },
    { "the table of another build", SEED_ALL, CODE_CAUSE_FOREIGN, another_build },
    { "relocations not applied", SEED_ALL, CODE_CAUSE_RELOCATION, starts_zero },
    { "half of the table twice", SEED_ALL, CODE_CAUSE_TWICE, first_half_twice },
    { "no function has rows", SEED_V3, CODE_CAUSE_OUTERMOST, rows_none },
    { "sizes 16 too high", SEED_ALL, CODE_CAUSE_SIZES, sizes_more },
    { "sizes up to the next function", SEED_ALL, CODE_CAUSE_SIZES, sizes_to_next },
    { "sizes of zero", SEED_ALL, CODE_CAUSE_SIZES, sizes_zero },
    { "the section header's address", SEED_ALL, CODE_CAUSE_ADDRESS, section_address },
    { "starts of rows said to have four bytes", SEED_ALL, CODE_CAUSE_INFO, type_of_four_bytes },
    { "starts of rows said to have one byte", SEED_ALL, CODE_CAUSE_INFO, type_of_one_byte },
    { "all functions repeat", SEED_ALL, CODE_CAUSE_INFO, all_pcmask },
    { "all functions are trampolines", SEED_V3, CODE_CAUSE_INFO, all_signal },
    { "all functions have key B", SEED_ALL, CODE_CAUSE_INFO, all_key_b },
    { "one row less for each function", SEED_ALL, CODE_CAUSE_INFO, rows_one_less },
    { "forty functions lost", SEED_ALL, CODE_LOST, forty_lost },
};

const size_t seed_kind_count = sizeof seed_kinds / sizeof *seed_kinds;

bool seed_open(struct seed_file *out, uint8_t *image, size_t size)
{
    struct object_sframe found;
    struct object_fault fault;
    struct object object;
    size_t index;
    bool good;

    *out = (struct seed_file){ .image = image, .size = size };
    if (!object_open(&object, &fault, image, size))
        return false;
    good = object_find_sframe(&found, &fault, &object) == OBJECT_FOUND;
    index = object_section_after(&object, 0, ".sframe");
    if (good && index != 0) {
        out->section = image + (found.data - image);
        out->section_size = found.size;
        out->big = object.big;
        out->section_header_at = object.sections[index].header_at;
        out->version = sframe_version_find(out->section[AT_HEADER_VERSION]);
        out->count = (uint32_t)get(out, out->section + AT_HEADER_FDES, 4);
        out->fde_at = SFRAME_HEADER_SIZE + get(out, out->section + AT_HEADER_FDE_AT, 4);
        out->fre_at = SFRAME_HEADER_SIZE + get(out, out->section + AT_HEADER_FRE_AT, 4);
        out->fre_size = get(out, out->section + AT_HEADER_FRE_SIZE, 4);
        out->pcrel = out->version && (out->version->always_pcrel ||
                                      (out->section[AT_HEADER_FLAGS] & SFRAME_START_PCREL) != 0);
    }
    object_close(&object);
    return good && out->version && out->count >= 80;
}
