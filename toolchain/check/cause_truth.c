#include "toolchain/check/cause_truth.h"

#include <stdlib.h>

#include "toolchain/check/cfi.h"

bool truth_of_symbols(struct truth *out, const struct object *o)
{
    *out = (struct truth){ .by = "symbols" };
    out->list = calloc(o->label_count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < o->label_count; i++)
        if (o->labels[i].end > o->labels[i].start)
            out->list[out->count++] = (struct object_range){ o->labels[i].start, o->labels[i].end };
    return out->list != NULL;
}

bool truth_of_cfi(struct truth *out, const struct object *o)
{
    const struct object_cfi_place place = object_find_cfi(o);
    struct cfi cfi;

    *out = (struct truth){ .by = "functions of .eh_frame" };
    if (place.result != OBJECT_CFI_FOUND || !cfi_open(&cfi, o, &place, NULL, NULL))
        return false;
    out->list = calloc(cfi.count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < cfi.count; i++)
        out->list[out->count++] =
            (struct object_range){ cfi.functions[i].start, cfi.functions[i].end };
    cfi_close(&cfi);
    return out->list != NULL;
}

size_t truth_rank(const struct truth *t, uint64_t start)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (t->list[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct object_range *truth_at(const struct truth *t, uint64_t start)
{
    const size_t i = truth_rank(t, start);

    return i < t->count && t->list[i].start == start ? &t->list[i] : NULL;
}

bool truth_ends_at(const struct truth *t, uint64_t end)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (t->list[middle].end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->list[low].end == end;
}

struct check_share truth_fit(const struct check *c, const struct truth *t)
{
    struct check_share n = { .all = 0 };

    for (size_t i = 0; i < c->part_count; i++)
        for (uint32_t k = 0; k < c->parts[i].fde_count; k++) {
            const struct sframe_entry *e = &c->parts[i].entries[k];
            const struct object_range *r = truth_at(t, e->start);

            n.all++;
            n.equal += r && (t->split ? truth_ends_at(t, e->start + e->size)
                                      : r->end - r->start == e->size);
        }
    return n;
}

bool truth_fits(const struct check_share *n)
{
    const uint64_t others = n->all / 10 > TRUTH_LINKAGE_MOST ? n->all / 10 : TRUTH_LINKAGE_MOST;

    return n->equal >= TRUTH_LEAST && n->equal + others >= n->all;
}
