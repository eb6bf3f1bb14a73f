/*
 * Entries that are gone: rows that no entry leads to are, one function behind the other, the rows of functions
 * of .eh_frame that no entry starts at.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/bytes.h"
#include "toolchain/check/cause_pairs.h"
#include "toolchain/check/difference.h"

static const struct hunt_name lost = {
    CODE_CAUSE_LOST, "a linker folds or discards an object file's functions and keeps their rows"
};

/* Rows that must be right, in two functions or in one; functions and gaps that are looked at. */
enum { ROWS_LEAST = 3, FUNCTIONS_MOST = 4096, GAPS_MOST = 64 };

struct lost_rows {
    struct hunt *h;
    const struct sframe_part *part;
    struct cfi cfi;
    const struct cfi_function **missing;
    size_t count;
    struct row_pair *p;
    uint32_t functions, rows;
    uint64_t bytes, low, high;
};

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The functions of .eh_frame without an entry. @return false: no memory */
static bool find_missing(struct lost_rows *l)
{
    const uint32_t count = hunt_functions(l->h);
    uint64_t *starts = calloc((size_t)count + 1, sizeof *starts);

    l->missing = calloc(FUNCTIONS_MOST, sizeof(const struct cfi_function *));
    for (uint32_t i = 0; starts && i < count; i++)
        starts[i] = hunt_function(l->h, i).entry->start;
    if (starts)
        qsort(starts, count, sizeof *starts, ascending);
    for (size_t i = 0; starts && l->missing && i < l->cfi.count && l->count < FUNCTIONS_MOST; i++)
        if (!bsearch(&l->cfi.functions[i].start, starts, count, sizeof *starts, ascending))
            l->missing[l->count++] = &l->cfi.functions[i];
    free(starts);
    return l->missing != NULL;
}

/* Marks the bytes of the rows that an entry leads to. */
static void mark_owned(uint8_t *owned, const struct lost_rows *l)
{
    const struct sframe_part *p = l->part;

    for (uint32_t i = 0; i < p->fde_count; i++) {
        const struct sframe_entry *e = &p->entries[i];
        uint64_t at = e->row_at, end = sframe_first_row(p, e);
        struct sframe_row r;

        /* Shared rows are marked once. */
        if (at >= p->fre_size || owned[at])
            continue;
        for (uint32_t k = 0; k <= e->row_count && end <= p->fre_size; k++) {
            while (at < end)
                owned[at++] = 1;
            if (k == e->row_count || sframe_row_read(&r, p, e, at) != ROW_READ)
                break;
            end = at + r.size;
        }
    }
}

/* The entry that rows at a place would have. @return false: no room */
static bool entry_at(struct sframe_entry *out, const struct lost_rows *l, uint64_t at,
                     unsigned type)
{
    const struct sframe_part *p = l->part;
    const uint8_t *attribute = p->data + p->fre_at + at;

    *out = (struct sframe_entry){ .row_at = (uint32_t)at,
                                  .row_count = UINT32_MAX,
                                  .info = (uint8_t)type };
    if (!p->version->has_attribute)
        return true;
    if (sframe_first_row(p, out) > p->fre_size)
        return false;
    out->row_count = (uint32_t)bytes_load(attribute, 2, p->big);
    out->info = attribute[2];
    out->info2 = attribute[3];
    out->repeat = attribute[4];
    return (out->info & FUNCTION_ROW_TYPE) == type;
}

/* Whether a row is the next one of a function, or repeats the one before. @param k  the next one */
static bool is_next(const struct row_pair *p, uint32_t *k, uint32_t start,
                    const struct sfb_rule *rule)
{
    if (*k < p->wanted && p->want[*k].start == start) {
        const bool same = rule_difference(rule, &p->want[*k]) == 0;

        *k += same;
        return same;
    }
    return *k > 0 && start > p->want[*k - 1].start &&
           (*k == p->wanted || start < p->want[*k].start) &&
           rule_difference(rule, &p->want[*k - 1]) == 0;
}

/* Whether the function that was read has the rows at a place. @param end  written if so */
static bool rows_at(const struct lost_rows *l, uint64_t at, const struct cfi_function *f,
                    uint64_t *end)
{
    for (unsigned type = 0; type <= ROW_TYPE_MAX; type++) {
        struct sframe_entry e;
        struct sframe_row r;
        struct sfb_rule rule;
        uint32_t k = 0;

        if (!entry_at(&e, l, at, type))
            continue;
        *end = sframe_first_row(l->part, &e);
        for (uint32_t i = 0;
             i < e.row_count && *end < l->part->fre_size &&
             sframe_row_read(&r, l->part, &e, *end) == ROW_READ && r.start < f->end - f->start &&
             sframe_row_rule(&rule, l->part, &e, &r) == NULL && is_next(l->p, &k, r.start, &rule);
             i++)
            *end += r.size;
        if (k == l->p->wanted)
            return true;
    }
    return false;
}

/* Reads a gap as rows of missing functions, in their order. */
static void read_gap(struct lost_rows *l, uint64_t at, uint64_t gap_end)
{
    for (size_t i = 0; i < l->count && at < gap_end; i++) {
        const struct cfi_function *f = l->missing[i];
        uint64_t end;

        if (!f || !pair_want(l->p, &l->cfi, f) || !rows_at(l, at, f, &end) || end > gap_end)
            continue;
        l->low = l->functions == 0 || f->start < l->low ? f->start : l->low;
        l->high = f->end > l->high ? f->end : l->high;
        l->functions++;
        l->rows += l->p->wanted;
        l->bytes += end - at;
        at = end;
    }
}

/* Each gap. @return the bytes of all of them */
static uint64_t read_gaps(struct lost_rows *l)
{
    uint8_t *owned = calloc((size_t)l->part->fre_size + 1, 1);
    uint64_t sum = 0;
    unsigned gaps = 0;

    if (!owned)
        return 0;
    mark_owned(owned, l);
    for (uint64_t i = 0; i < l->part->fre_size && gaps < GAPS_MOST; i++) {
        const uint64_t start = i;

        while (i < l->part->fre_size && !owned[i])
            i++;
        if (i > start) {
            read_gap(l, start, i);
            sum += i - start;
            gaps++;
        }
    }
    free(owned);
    return sum;
}

static void look(struct lost_rows *l)
{
    const uint64_t unowned = read_gaps(l);
    struct sframe_fix fix = { .kind = FIX_LOST, .to = UINT32_MAX, .low = l->low, .high = l->high };

    /* Rows that several functions share are there once, and the others of these are not seen. */
    if (l->functions > 0 && l->rows >= ROWS_LEAST && l->bytes * 2 >= unowned)
        hunt_settle(l->h, lost, fix,
                    "the entries of %" PRIu32 " functions from 0x%" PRIx64 " to 0x%" PRIx64
                    " are gone, and their rows are still there: without these",
                    l->functions, l->low, l->high);
}

void hunt_lost(struct hunt *h)
{
    const struct object_cfi_place place = object_find_cfi(h->c->object);
    struct lost_rows l = { .h = h, .part = &h->as_it_stands->parts[0] };

    if (h->c->options->no_cfi || place.result != OBJECT_CFI_FOUND ||
        hunt_count(h, CODE_UNOWNED) == 0 || h->as_it_stands->part_count != 1)
        return;
    l.p = calloc(1, sizeof *l.p);
    if (l.p && cfi_open(&l.cfi, h->c->object, &place, NULL, NULL)) {
        if (find_missing(&l) && l.count > 0)
            look(&l);
        cfi_close(&l.cfi);
    }
    free(l.missing);
    free(l.p);
}
