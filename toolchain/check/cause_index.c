#include "toolchain/check/cause_index.h"

#include <stdlib.h>

#include "toolchain/check/cause_hunt.h"

/* ---- keys: equal if pair_agrees() is true; signs are left out, for not each row of .eh_frame knows them ---- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static uint64_t mix_saved(uint64_t key, const struct sfb_saved *s)
{
    key = mix(key, s->where);
    return s->where == SFB_WHERE_UNSAVED ? key : mix(mix(key, s->reg), (uint64_t)s->offset);
}

static uint64_t key_of_rule(const struct sfb_rule *r)
{
    const bool deref = (r->flags & SFB_RULE_CFA_DEREF) != 0;
    uint64_t key = 1;

    if (r->flags & SFB_RULE_OUTERMOST)
        return 0;
    key = mix(key, r->cfa_base);
    key = mix(key, (uint64_t)r->cfa_offset);
    key = mix(key, r->cfa_base == SFB_BASE_REG ? r->cfa_reg : 0);
    key = mix(key, deref ? (uint64_t)r->cfa_add + 1 : 0);
    key = mix(key, (r->flags & SFB_RULE_SIGNAL) != 0);
    return mix_saved(mix_saved(key, &r->ra), &r->fp);
}

/* The key of rows as they come; a row with the rule of the one before adds nothing. */
struct key {
    uint64_t sum, last;
};

static void add_row(struct key *key, uint64_t start, const struct sfb_rule *rule)
{
    const uint64_t now = key_of_rule(rule);

    if (start != 0 && now == key->last)
        return;
    key->sum = mix(mix(key->sum, start), now);
    key->last = now;
}

/* ---- making ---- */

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int by_key(const void *a, const void *b)
{
    const struct index_entry *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static void read_entries(struct pair_index *out, const struct hunt *h)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const struct sframe_entry *e = hunt_function(h, i).entry;

        out->starts[i] = e->start;
        out->rows[i] = e->row_at;
    }
    qsort(out->starts, out->count, sizeof *out->starts, ascending);
    qsort(out->rows, out->count, sizeof *out->rows, ascending);
}

static void read_functions(struct pair_index *out, struct cfi *cfi, struct row_pair *p)
{
    for (size_t i = 0; i < cfi->count; i++) {
        const struct cfi_function *f = &cfi->functions[i];
        struct key key = { .sum = f->end - f->start };

        if (!pair_want(p, cfi, f))
            continue;
        for (uint32_t k = 0; k < p->wanted; k++)
            add_row(&key, p->want[k].start, &p->want[k].rule);
        out->functions[out->function_count++] = (struct index_entry){ key.sum, f };
    }
    qsort(out->functions, out->function_count, sizeof *out->functions, by_key);
}

bool pair_index_make(struct pair_index *out, const struct hunt *h, struct cfi *cfi,
                     struct row_pair *scratch)
{
    *out = (struct pair_index){ .count = hunt_functions(h) };
    out->starts = calloc((size_t)out->count + 1, sizeof *out->starts);
    out->rows = calloc((size_t)out->count + 1, sizeof *out->rows);
    out->functions = calloc(cfi->count + 1, sizeof *out->functions);
    if (!out->starts || !out->rows || !out->functions)
        return false;
    read_entries(out, h);
    if (!scratch->want_by)
        read_functions(out, cfi, scratch);
    return true;
}

void pair_index_free(struct pair_index *index)
{
    free(index->starts);
    free(index->rows);
    free(index->functions);
}

/* ---- searches ---- */

uint32_t pair_rank(const uint64_t *list, uint32_t count, uint64_t value)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t how_many(struct pair_index *index, const uint64_t *list, uint64_t value)
{
    const uint32_t below = pair_rank(list, index->count, value);

    index->looks += 2;
    return (value == UINT64_MAX ? index->count : pair_rank(list, index->count, value + 1)) - below;
}

uint32_t pair_index_starts(struct pair_index *index, uint64_t start)
{
    return how_many(index, index->starts, start);
}

uint32_t pair_index_rows(struct pair_index *index, uint64_t row_at)
{
    return how_many(index, index->rows, row_at);
}

/* The first of [low, high) that is not below a key and a start. */
static const struct index_entry *first_at(struct pair_index *index, struct index_range range,
                                          uint64_t key, uint64_t start)
{
    index->looks++;
    while (range.low < range.high) {
        const struct index_entry *middle = range.low + (range.high - range.low) / 2;

        if (middle->key < key || (middle->key == key && middle->function->start < start))
            range.low = middle + 1;
        else
            range.high = middle;
    }
    return range.low;
}

struct index_range pair_index_like(struct pair_index *index, const struct row_pair *p)
{
    struct index_range all = { index->functions, index->functions + index->function_count };
    struct key key = { .sum = p->function.entry->size };

    if (p->count == 0 || p->row[0].start != 0)
        return (struct index_range){ all.high, all.high };
    for (uint32_t i = 0; i < p->count; i++) {
        if (i > 0 && p->row[i].start <= p->row[i - 1].start)
            return (struct index_range){ all.high, all.high };
        add_row(&key, p->row[i].start, &p->row[i].rule);
    }
    all.low = first_at(index, all, key.sum, 0);
    if (key.sum != UINT64_MAX)
        all.high = first_at(index, all, key.sum + 1, 0);
    return all;
}

struct index_range pair_index_between(struct pair_index *index, struct index_range range,
                                      uint64_t from, uint64_t to)
{
    const uint64_t key = range.low < range.high ? range.low->key : 0;

    range.low = first_at(index, range, key, from);
    if (to != UINT64_MAX)
        range.high = first_at(index, range, key, to + 1);
    return range;
}
