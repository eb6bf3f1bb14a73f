/* Causes in the header, in the size and the byte order of entries, and in their order. */
#include <inttypes.h>
#include <stdlib.h>

#include <sfb/abi.h>

#include "toolchain/check/bytes.h"
#include "toolchain/check/cause_hunt.h"

static const struct hunt_name header = { CODE_CAUSE_HEADER,
                                         "the writer computes it from other sizes than it writes" };
static const struct hunt_name entry_size = {
    CODE_CAUSE_ENTRY_SIZE, "the writer pads the structure of an entry, or packs it"
};
static const struct hunt_name byte_order = {
    CODE_CAUSE_BYTES, "a cross assembler or linker writes the order of its host"
};
static const struct hunt_name order = {
    CODE_CAUSE_ORDER, "a linker does not sort, or sorts before the starts are final"
};

static const struct hunt_name abi = { CODE_CAUSE_HEADER,
                                      "a cross assembler or linker writes the ABI of its host" };
static const struct hunt_name cut = {
    CODE_CAUSE_HEADER, "a tool that writes or copies the section has its size from another link"
};

static bool has_header(const struct check *c)
{
    return c->size >= SFRAME_HEADER_SIZE && (bytes_load(c->data, 2, false) == SFRAME_MAGIC ||
                                             bytes_load(c->data, 2, true) == SFRAME_MAGIC);
}

/* Whether level 1 found anything, or most functions are unknown. */
static bool is_suspect(const struct hunt *h)
{
    for (size_t i = 0; i < check_code_count && check_codes[i].code < CODE_SECTION_TYPE; i++)
        if (h->found.of_code[i] > 0)
            return true;
    return h->out->before.equal * 2 < h->out->before.all;
}

static void try_field(struct hunt *h, const char *name, uint8_t at, uint8_t width, uint64_t value)
{
    const bool big = bytes_load(h->c->data, 2, true) == SFRAME_MAGIC;
    const uint64_t is = bytes_load(h->c->data + at, width, big);
    const struct sframe_fix fix = {
        .kind = FIX_HEADER, .to = UINT32_MAX, .amount = (int64_t)value, .at = at, .width = width
    };

    if (is == value || value >> (8 * width - 1) > 1)
        return;
    hunt_try_fit(h, header, fix, "%s is 0x%" PRIx64 ": with 0x%" PRIx64, name, is, value);
}

/* The header describes more rows than the section has. */
static void try_cut(struct hunt *h, uint64_t described, uint64_t there)
{
    const struct sframe_fix fix = { .kind = FIX_HEADER,
                                    .to = UINT32_MAX,
                                    .amount = (int64_t)there,
                                    .at = AT_HEADER_FRE_SIZE,
                                    .width = 4 };

    hunt_try_fit(h, cut, fix,
                 "the section is cut off: the header describes 0x%" PRIx64
                 " bytes of rows, and 0x%" PRIx64 " are there: with these",
                 described, there);
}

static void try_fields(struct hunt *h)
{
    const struct check *c = h->c;
    const bool big = bytes_load(c->data, 2, true) == SFRAME_MAGIC;
    const struct sframe_version *v = sframe_version_find(c->data[AT_HEADER_VERSION]);
    const uint64_t count = bytes_load(c->data + AT_HEADER_FDES, 4, big);
    const uint64_t rows = bytes_load(c->data + AT_HEADER_FRE_AT, 4, big);
    const uint64_t first = bytes_load(c->data + AT_HEADER_FDE_AT, 4, big);
    const uint64_t rest = SFRAME_HEADER_SIZE + c->data[AT_HEADER_AUX] + rows;

    if (!v)
        return;
    try_field(h, "the ABI", AT_HEADER_ABI, 1, c->object->abi);
    try_field(h, "the fixed offset of RA", AT_HEADER_FIXED_RA, 1,
              (uint8_t)sfb_abi_registers(c->object->abi).fixed_ra);
    try_field(h, "the fixed offset of FP", AT_HEADER_FIXED_FP, 1, 0);
    try_field(h, "the size of the auxiliary header", AT_HEADER_AUX, 1, 0);
    try_field(h, "the offset of the entries", AT_HEADER_FDE_AT, 4, 0);
    try_field(h, "the offset of the rows", AT_HEADER_FRE_AT, 4, first + count * v->entry_size);
    if (rows > first)
        try_field(h, "the number of functions", AT_HEADER_FDES, 4, (rows - first) / v->entry_size);
    if (c->size > rest && bytes_load(c->data + AT_HEADER_FRE_SIZE, 4, big) > c->size - rest)
        try_cut(h, bytes_load(c->data + AT_HEADER_FRE_SIZE, 4, big), c->size - rest);
    else if (c->size > rest)
        try_field(h, "the size of the rows", AT_HEADER_FRE_SIZE, 4, c->size - rest);
    try_field(h, "the flags", AT_HEADER_FLAGS, 1, v->always_pcrel ? 5 : 1);
}

/*
 * Fields that leave the section readable, and all functions known: rows are read from elsewhere, or
 * functions are missing.
 */
static void try_counted_fields(struct hunt *h)
{
    const struct sframe_part *p = &h->as_it_stands->parts[0];
    const uint64_t base = (uint64_t)SFRAME_HEADER_SIZE + p->aux_size;
    const uint64_t rows = p->fde_at - base + (uint64_t)p->fde_count * p->version->entry_size;
    struct sframe_fix fix = { .kind = FIX_HEADER, .to = UINT32_MAX, .width = 4 };

    if (p->fre_at - base != rows) {
        fix.at = AT_HEADER_FRE_AT;
        fix.amount = (int64_t)rows;
        hunt_try_header(h, header, fix, "the offset of the rows is 0x%" PRIx64 ": with 0x%" PRIx64,
                        p->fre_at - base, rows);
        if ((p->fre_at - p->fde_at) % p->version->entry_size == 0) {
            fix.at = AT_HEADER_FDES;
            fix.amount = (int64_t)((p->fre_at - p->fde_at) / p->version->entry_size);
            hunt_try_header(h, header, fix, "the number of functions is %" PRIu32 ": with %" PRId64,
                            p->fde_count, fix.amount);
        }
    }
    if (p->fde_at != base) {
        fix.at = AT_HEADER_FDE_AT;
        fix.amount = 0;
        hunt_try_header(h, header, fix, "the offset of the entries is 0x%" PRIx64 ": with 0",
                        p->fde_at - base);
    }
    if (p->end < p->size) {
        fix.at = AT_HEADER_FRE_SIZE;
        fix.amount = (int64_t)(p->size - p->fre_at);
        hunt_try_header(h, header, fix, "the size of the rows is 0x%" PRIx32 ": with 0x%" PRIx64,
                        p->fre_size, (uint64_t)fix.amount);
    }
    if (p->aux_size != 0) {
        fix.at = AT_HEADER_AUX;
        fix.width = 1;
        fix.amount = 0;
        hunt_try_header(h, header, fix, "the size of the auxiliary header is %u: with 0",
                        p->aux_size);
    }
}

static void try_sizes(struct hunt *h)
{
    static const uint8_t sizes[] = { 13, 16, 17, 18, 19, 20, 24, 28, 32 };
    const struct sframe_version *v = sframe_version_find(h->c->data[AT_HEADER_VERSION]);

    for (size_t i = 0; v && i < sizeof sizes; i++)
        if (sizes[i] != v->entry_size && sizes[i] >= v->start_size + (v->has_attribute ? 8 : 13))
            hunt_try_fit(h, entry_size, hunt_all(FIX_ENTRY_SIZE, sizes[i]),
                         "entries have %u bytes, in version %u %u: with %u", sizes[i], v->number,
                         v->entry_size, sizes[i]);
}

static void try_bytes(struct hunt *h)
{
    const bool big = bytes_load(h->c->data, 2, true) == SFRAME_MAGIC;
    struct sframe_fix fix = hunt_all(FIX_SWAP_MACHINE, 0);

    fix.at = AT_HEADER_ABI;
    if ((h->c->data[AT_HEADER_ABI] == SFB_ABI_AARCH64_BE) == big)
        hunt_try_fit(
            h, abi, fix,
            "the ABI is 0x%x, with what is fixed by it, and not that of the file's machine, "
            "0x%x: with that",
            h->c->data[AT_HEADER_ABI], h->c->object->abi);
    hunt_try_fit(h, byte_order, fix,
                 "all of it has the other byte order: in the order of its magic number");
    hunt_try_fit(h, byte_order, hunt_all(FIX_SWAP_ENTRIES, 0),
                 "the entries have the other byte order: in that order");
    hunt_try_fit(h, byte_order, hunt_all(FIX_SWAP_TABLES, 0),
                 "entries and rows have the other byte order: in that order");
}

/* ---- the order of entries ---- */

static uint64_t raw_of(const struct hunt *h, uint32_t i)
{
    return (uint64_t)hunt_function(h, i).entry->raw_start;
}

/* Whether the entries ascend by their fields, as signed or unsigned numbers. */
static bool ascends_by_field(const struct hunt *h, uint32_t count, bool is_signed)
{
    const unsigned bits = 8u * hunt_function(h, 0).part->version->start_size;
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    for (uint32_t i = 1; i < count; i++) {
        const uint64_t a = raw_of(h, i - 1), b = raw_of(h, i);

        if (is_signed ? (int64_t)b < (int64_t)a : (b & mask) < (a & mask))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/*
 * Whether the entries ascend by what their fields held at the places where the entries were in the order of
 * addresses: those were sorted by, and written anew.
 */
static bool ascends_by_old_field(const struct hunt *h, uint32_t count)
{
    const uint64_t step = hunt_function(h, 0).part->version->entry_size;
    uint64_t *starts = calloc(count, sizeof *starts);
    bool ascends = starts != NULL;
    int64_t before = INT64_MIN;

    for (uint32_t i = 0; ascends && i < count; i++)
        starts[i] = hunt_function(h, i).entry->start;
    if (ascends)
        qsort(starts, count, sizeof *starts, by_start);
    for (uint32_t i = 0; ascends && i < count; i++) {
        const uint64_t start = hunt_function(h, i).entry->start;
        const uint64_t *at = bsearch(&start, starts, count, sizeof *starts, by_start);
        const int64_t field = at ? (int64_t)(start - (uint64_t)(at - starts) * step) : INT64_MIN;

        ascends = field >= before;
        before = field;
    }
    free(starts);
    return ascends;
}

/* Whether the functions at which the order breaks are known ones: no start is damaged. */
static bool breaks_at_known(const struct hunt *h, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct sframe_entry *pair[] = { hunt_function(h, i - 1).entry,
                                              hunt_function(h, i).entry };

        for (size_t k = 0; k < 2 && pair[1]->start < pair[0]->start; k++) {
            const struct object_range *r = truth_at(h->truth, pair[k]->start);

            if (!r || r->end - r->start != pair[k]->size)
                return false;
        }
    }
    return true;
}

/*
 * How many functions lie before one that is in front of them in the table, and how often the order
 * breaks.
 */
void hunt_order(struct hunt *h)
{
    const uint64_t unsorted = hunt_count(h, CODE_NOT_SORTED) + hunt_count(h, CODE_UNSORTED);
    const uint32_t count = hunt_functions(h);
    uint32_t breaks = 0, at = 0, late = 0, early = 0;
    uint64_t highest = 0;
    bool by_field;

    if (unsorted == 0 || h->all - unsorted >= HUNT_LEAST)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t start = hunt_function(h, i).entry->start;

        if (i > 0 && start < hunt_function(h, i - 1).entry->start) {
            breaks++;
            at = at == 0 ? i : at;
        }
        late += start < highest;
        highest = start > highest ? start : highest;
    }
    /* A damaged start breaks the order once, and the first or the last entry alone says no more. */
    by_field = breaks > 0 && (breaks > 1 || breaks_at_known(h, count)) &&
               (ascends_by_field(h, count, false) || ascends_by_field(h, count, true) ||
                ascends_by_old_field(h, count));
    if (breaks == 0 || (late < HUNT_LEAST && !by_field))
        return;
    for (uint32_t i = 0; i < at; i++)
        early += hunt_function(h, i).entry->start > hunt_function(h, at).entry->start;
    if (late >= HUNT_LEAST && breaks >= count / 2 && breaks + 1 + count / 10 >= count)
        hunt_settle(h, order, hunt_all(FIX_ANY_ORDER, 0), "the table descends: in ascending order");
    else if (late >= HUNT_LEAST && breaks == 1 && at > 1 && count - at > 1 &&
             hunt_function(h, count - 1).entry->start < hunt_function(h, 0).entry->start)
        hunt_settle(h, order, hunt_all(FIX_ANY_ORDER, 0),
                    "the table is rotated, its first function is entry %" PRIu32 ": from there on",
                    at);
    else if (by_field)
        hunt_settle(h, order, hunt_all(FIX_ANY_ORDER, 0),
                    "the table is sorted by the fields' values, not by addresses: by addresses");
    else if (early >= HUNT_LEAST)
        hunt_settle(h, order, hunt_all(FIX_ANY_ORDER, 0),
                    "the order breaks %" PRIu32 " times, as of tables that were put one behind the "
                    "other: in ascending order",
                    breaks);
}

void hunt_header(struct hunt *h)
{
    if (!has_header(h->c))
        return;
    if (h->truth->count >= TRUTH_LEAST && h->out->before.equal * 2 <= h->out->before.all) {
        if (is_suspect(h))
            try_fields(h);
        try_sizes(h);
        try_bytes(h);
    }
    if (h->as_it_stands->part_count == 1 && is_suspect(h))
        try_counted_fields(h);
}
