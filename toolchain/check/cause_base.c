/* Entries that count their start from the other place than the section says. */
#include "symbols/code_ranges.h"
#include "toolchain/check/cause_pairs.h"

bool pair_fits_at(struct row_pair *p, struct cfi *cfi, uint64_t start)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function f = { .start = start, .end = start + e->size };
    const struct truth *t = p->hunt->truth;
    bool good;

    if (p->count < 2 || !t->split || !truth_at(t, start) || !truth_ends_at(t, f.end) ||
        !object_is_code(p->hunt->c->object, f.start, f.end))
        return false;
    p->index->looks++;
    p->elsewhere = true;
    good = pair_want(p, cfi, &f) && pair_agrees(p);
    p->elsewhere = false;
    return good;
}

/* How far an entry is moved: the table may have been sorted after that. */
enum { PLACES_MOST = 256, PLACES_BY_CODE = 64 };

/* The entries that the field may have been of. */
struct places {
    uint64_t at, step; /* offset of the entry's field, and of each next one */
    int64_t low, high; /* places away */
};

static struct places places_of(const struct row_pair *p)
{
    const int64_t index = p->function.entry->index;
    const int64_t most = p->want_by ? PLACES_BY_CODE : PLACES_MOST;

    return (struct places){ sframe_entry_at(p->function.part, p->function.entry->index),
                            p->function.part->version->entry_size, index < most ? -index : -most,
                            most };
}

/* Whether a sorted table has the function at that place: only wrong entries make a difference. */
static bool is_in_order(const struct pair_group *g, int64_t place, uint64_t start)
{
    const int64_t more = place - (int64_t)pair_rank(g->right, g->right_count, start);

    return more >= 0 && more <= (int64_t)g->count + g->wrong;
}

/*
 * Looks for a function with these rows that lies a field's offset away.
 *
 * @param sign  1: the offset is missing; -1: it is added once too much
 * @param g     the place must be in order; NULL: any
 */
static bool is_away(struct row_pair *p, struct cfi *cfi, int sign, const struct pair_group *g)
{
    const uint64_t start = p->function.entry->start;
    const struct places w = places_of(p);
    const uint64_t near = w.at + (uint64_t)w.low * w.step, far = w.at + (uint64_t)w.high * w.step;
    struct index_range like = pair_index_like(p->index, p);

    if (sign < 0 && start < far)
        return false;
    like = sign > 0 ? pair_index_between(p->index, like, start + near, start + far)
                    : pair_index_between(p->index, like, start - far, start - near);
    for (; like.low < like.high; like.low++) {
        const uint64_t is = like.low->function->start;
        const uint64_t field = sign > 0 ? is - start : start - is;
        const int64_t away = (int64_t)(field - w.at), step = (int64_t)w.step;

        p->index->looks++;
        if (away % step == 0 &&
            (!g || is_in_order(g, p->function.entry->index + away / step, is)) &&
            pair_is_of(p, cfi, like.low->function))
            return true;
    }
    return false;
}

/* The same by the code. */
static bool is_away_by_code(struct row_pair *p, struct cfi *cfi, int sign,
                            const struct pair_group *g)
{
    const uint64_t start = p->function.entry->start;
    const struct places w = places_of(p);

    for (int64_t away = w.low; away <= w.high; away++) {
        const uint64_t field = w.at + (uint64_t)away * w.step;
        const uint64_t is = sign > 0 ? start + field : start - field;

        if ((!g || is_in_order(g, p->function.entry->index + away, is)) && pair_fits_at(p, cfi, is))
            return true;
    }
    return false;
}

bool pair_of_other_base(struct row_pair *p, struct cfi *cfi)
{
    if (p->want_by)
        return is_away_by_code(p, cfi, 1, NULL) || is_away_by_code(p, cfi, -1, NULL);
    return is_away(p, cfi, 1, NULL) || is_away(p, cfi, -1, NULL);
}

bool pair_bases_agree(const struct pair_group *g)
{
    struct row_pair *p = g->p;
    uint32_t good = 0;

    if (p->hunt->as_it_stands->part_count > 1)
        return true;
    for (uint32_t i = 0; i < g->count; i++) {
        p->function = hunt_function(p->hunt, g->members[i]);
        good += pair_read(p, p->function.part, p->function.entry) &&
                (p->want_by ? is_away_by_code(p, g->cfi, 1, g) || is_away_by_code(p, g->cfi, -1, g)
                            : is_away(p, g->cfi, 1, g) || is_away(p, g->cfi, -1, g));
    }
    return good * 4 >= g->count * 3;
}
