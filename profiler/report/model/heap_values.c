#include "profiler/report/model/heap_values.h"

#include <stdlib.h>

#include "profiler/report/model/replay.h"

struct values {
    const struct report_heap_data *heap;
    const struct report_choice *choice;
    uint64_t start;                /* of the recording */
    struct report_heap_values *of; /* each site */
};

static bool is_aggregate(const struct values *v, uint32_t site)
{
    return (v->heap->heaps.at[v->heap->sites.at[site].heap].flags & SFB_HEAP_AGGREGATE) != 0;
}

/* Blocks, and bytes behind them. */
static void set(struct report_amount pair[2], const struct sfb_recording_heap_amount *from,
                bool estimated)
{
    const uint64_t samples = estimated ? from->samples : 0;

    pair[0] = (struct report_amount){ from->blocks, estimated ? (double)from->blocks_variance : 0.0,
                                      samples };
    pair[1] = (struct report_amount){ from->bytes, estimated ? (double)from->bytes_variance : 0.0,
                                      samples };
}

/* --- The whole run ----------------------------------------------------------------------------- */

static void take_totals(struct values *v)
{
    for (size_t i = 0; i < v->heap->sites.count; i++) {
        const struct report_heap_site *site = &v->heap->sites.at[i];
        const bool estimated = v->heap->heaps.at[site->heap].rate > 0;
        const struct sfb_recording_heap_totals *totals;

        if (site->totals == REPORT_NONE)
            continue;
        totals = &v->heap->totals.at[site->totals];
        set(&v->of[i].of[REPORT_ALLOC_OBJECTS], &totals->allocated, estimated);
        set(&v->of[i].of[REPORT_INUSE_OBJECTS], &totals->live, estimated);
        set(&v->of[i].of[REPORT_PEAK_OBJECTS], &totals->peak, estimated);
        /* Most events between two samples of a thread are unseen: temporary blocks cannot be counted. */
        if (!estimated)
            set(&v->of[i].of[REPORT_TEMPORARY_OBJECTS], &totals->temporary, false);
    }
}

/* --- A part of it, by events ------------------------------------------------------------------- */

/* Adds blocks of a pair to a value of its site, and its error to the value's. */
static void add(struct values *v, size_t pair, enum report_heap_type type, uint64_t count)
{
    const struct report_heap_pair *p = &v->heap->pairs.at[pair];
    const uint64_t rate = v->heap->heaps.at[v->heap->sites.at[p->site].heap].rate;
    struct report_amount blocks, bytes;

    report_estimate(rate, p->size, count, &blocks, &bytes);
    report_amount_add(&v->of[p->site].of[type], &blocks);
    report_amount_add(&v->of[p->site].of[type + 1], &bytes);
}

static uint64_t from_start(const struct values *v, uint64_t time)
{
    return report_saturated(v->start, time);
}

/* What lives at two instants, and the sites that had less at the end. */
struct span {
    struct report_replay before, end;
    struct values shrunk;
};

static const struct report_replayed *before(const struct span *s, size_t pair)
{
    static const struct report_replayed none = { .allocated = 0 };

    return s->before.at ? &s->before.at[pair] : &none;
}

static bool replay_span(struct span *out, const struct values *v)
{
    const struct report_choice *c = v->choice;
    uint64_t behind = UINT64_MAX;

    if (c->at_instant)
        behind = from_start(v, c->to);
    else if (c->to > 0)
        behind = from_start(v, c->to) - 1;
    return report_replay_until(&out->end, v->heap, behind) &&
           (c->from == 0 || report_replay_until(&out->before, v->heap, from_start(v, c->from) - 1));
}

/* What both instants have in common has no error. */
static void add_pair(struct values *v, struct span *s, size_t pair)
{
    const struct report_replayed *a = before(s, pair), *b = &s->end.at[pair];
    const uint64_t old = report_replayed_live(a), new = report_replayed_live(b);

    add(v, pair, REPORT_ALLOC_OBJECTS,
        b->allocated > a->allocated ? b->allocated - a->allocated : 0);
    add(new >= old ? v : &s->shrunk, pair, REPORT_INUSE_OBJECTS,
        new >= old ? new - old : old - new);
}

/* What some sizes of a site have less is taken from what others have more: it grew by the difference. */
static void net(struct values *v, const struct span *s, size_t site)
{
    for (size_t k = 0; k < 2; k++) {
        struct report_amount *grown = &v->of[site].of[REPORT_INUSE_OBJECTS + k];
        const struct report_amount *lost = &s->shrunk.of[site].of[REPORT_INUSE_OBJECTS + k];

        v->of[site].shrunk[k] = lost->value > grown->value ? lost->value - grown->value : 0;
        grown->value -= lost->value < grown->value ? lost->value : grown->value;
        grown->variance += lost->variance;
        grown->samples = report_saturated(grown->samples, lost->samples);
    }
}

static bool take_span(struct values *v)
{
    struct span s = { .shrunk = { v->heap, v->choice, v->start,
                                  calloc(v->heap->sites.count + 1, sizeof *s.shrunk.of) } };
    const bool good = s.shrunk.of && replay_span(&s, v);

    for (size_t i = 0; good && i < v->heap->pairs.count; i++)
        add_pair(v, &s, i);
    for (size_t i = 0; good && i < v->heap->sites.count; i++)
        if (!is_aggregate(v, (uint32_t)i))
            net(v, &s, i);
    report_replay_free(&s.before);
    report_replay_free(&s.end);
    free(s.shrunk.of);
    return good;
}

/* What lived through the last part of the run: as many blocks at most as lived at any instant of it. */
static bool take_tail(struct values *v, const uint64_t *tails)
{
    struct report_replay replay = { .at = NULL };
    const bool good = report_replay_tails(&replay, v->heap, tails);

    for (size_t i = 0; good && i < v->heap->sites.count; i++)
        if (!is_aggregate(v, (uint32_t)i))
            v->of[i].of[REPORT_INUSE_OBJECTS] = v->of[i].of[REPORT_INUSE_SPACE] =
                (struct report_amount){ .value = 0 };
    for (size_t i = 0; good && i < v->heap->pairs.count; i++)
        add(v, i, REPORT_INUSE_OBJECTS, replay.at[i].least);
    report_replay_free(&replay);
    return good;
}

/* --- A part of it, by snapshots ---------------------------------------------------------------- */

/* @return the time of the snapshot of a heap that is nearest; 0: the beginning, when there was nothing */
static uint64_t nearest_to(const struct values *v, uint32_t heap, uint64_t time)
{
    uint64_t nearest = 0, distance = time - (time > v->start ? v->start : time);

    for (size_t i = 0; i < v->heap->snapshots.count; i++) {
        const struct report_heap_snapshot *s = &v->heap->snapshots.at[i];
        const uint64_t away = s->time > time ? s->time - time : time - s->time;

        if (v->heap->sites.at[s->site].heap == heap && away <= distance) {
            nearest = s->time;
            distance = away;
        }
    }
    return nearest;
}

/* What a site had at a snapshot is what its last record up to then says. */
static void take_snapshot(struct values *v, uint32_t heap, uint64_t time)
{
    for (size_t i = 0; i < v->heap->snapshots.count; i++) {
        const struct report_heap_snapshot *s = &v->heap->snapshots.at[i];
        const bool estimated = v->heap->heaps.at[heap].rate > 0;

        if (v->heap->sites.at[s->site].heap != heap || s->time > time)
            continue;
        set(&v->of[s->site].of[REPORT_ALLOC_OBJECTS], &s->allocated, estimated);
        set(&v->of[s->site].of[REPORT_INUSE_OBJECTS], &s->live, estimated);
    }
}

/* Subtracts earlier values. Variances add up: the covariance is unknown. */
static void subtract(struct report_amount *from, const struct report_amount *less, uint64_t *shrunk)
{
    if (shrunk)
        *shrunk = less->value > from->value ? less->value - from->value : 0;
    from->value -= less->value < from->value ? less->value : from->value;
    from->variance += less->variance;
    from->samples = report_saturated(from->samples, less->samples);
}

static bool take_snapshots(struct values *v, uint32_t heap, uint64_t *nearest)
{
    const struct report_choice *c = v->choice;
    const uint64_t end = c->to > 0 || c->at_instant ? nearest_to(v, heap, from_start(v, c->to))
                                                    : nearest_to(v, heap, UINT64_MAX);
    struct values before = { v->heap, v->choice, v->start,
                             calloc(v->heap->sites.count + 1, sizeof *before.of) };

    if (!before.of)
        return false;
    if (end > 0)
        take_snapshot(v, heap, end);
    if (c->from > 0)
        take_snapshot(&before, heap, nearest_to(v, heap, from_start(v, c->from)));
    for (size_t i = 0; i < v->heap->sites.count; i++)
        for (size_t k = 0; k < 2 && v->heap->sites.at[i].heap == heap; k++) {
            struct report_amount *own = v->of[i].of, *less = before.of[i].of;

            subtract(&own[REPORT_ALLOC_OBJECTS + k], &less[REPORT_ALLOC_OBJECTS + k], NULL);
            subtract(&own[REPORT_INUSE_OBJECTS + k], &less[REPORT_INUSE_OBJECTS + k],
                     &v->of[i].shrunk[k]);
        }
    *nearest = end > v->start ? end - v->start : 0;
    free(before.of);
    return true;
}

/* The least that a site had at the snapshots of the tail, and at the last one before it. */
static void take_least(struct values *v, uint32_t heap, uint64_t tail)
{
    for (size_t i = 0; i < v->heap->snapshots.count; i++) {
        const struct report_heap_snapshot *s = &v->heap->snapshots.at[i];
        struct report_amount *own = &v->of[s->site].of[REPORT_INUSE_OBJECTS], at[2];

        if (v->heap->sites.at[s->site].heap != heap)
            continue;
        set(at, &s->live, v->heap->heaps.at[heap].rate > 0);
        for (size_t k = 0; k < 2; k++)
            if (s->time <= tail || at[k].value < own[k].value)
                own[k] = at[k];
    }
}

/* --- All of it --------------------------------------------------------------------------------- */

/* @return when the tail of each heap begins; NULL: no memory */
static uint64_t *tails_of(const struct values *v)
{
    uint64_t *tails = calloc(v->heap->heaps.count + 1, sizeof *tails);

    for (size_t i = 0; tails && i < v->heap->heaps.count; i++) {
        const struct report_heap *heap = &v->heap->heaps.at[i];
        const uint64_t run = heap->last - heap->time;
        uint64_t tail = v->choice->tail;

        if (v->choice->tail_percent > 0.0)
            tail = (uint64_t)((double)run * v->choice->tail_percent / 100.0);
        tails[i] = heap->last - (tail < run ? tail : run);
    }
    return tails;
}

static bool take_part(struct values *v, uint64_t *nearest)
{
    bool good = v->heap->events.count == 0 || take_span(v);

    for (uint32_t i = 0; good && i < v->heap->heaps.count; i++)
        if (v->heap->heaps.at[i].flags & SFB_HEAP_AGGREGATE)
            good = take_snapshots(v, i, nearest);
    return good;
}

static bool cut_tail(struct values *v)
{
    uint64_t *tails = tails_of(v);
    const bool good = tails && (v->heap->events.count == 0 || take_tail(v, tails));

    for (uint32_t i = 0; good && i < v->heap->heaps.count; i++) {
        if (!(v->heap->heaps.at[i].flags & SFB_HEAP_AGGREGATE))
            continue;
        take_least(v, i, tails[i]);
    }
    /* Sums and events may contradict each other. */
    for (size_t i = 0; good && i < v->heap->sites.count; i++)
        for (size_t k = 0; k < 2; k++)
            if (v->of[i].of[REPORT_INUSE_OBJECTS + k].value >
                v->of[i].of[REPORT_ALLOC_OBJECTS + k].value)
                v->of[i].of[REPORT_INUSE_OBJECTS + k] = v->of[i].of[REPORT_ALLOC_OBJECTS + k];
    free(tails);
    return good;
}

bool report_heap_values_make(struct report_heap_values **out, const struct report_data *data,
                             const struct report_choice *choice, uint64_t *nearest)
{
    struct values v = { &data->heap, choice, data->start.monotonic,
                        calloc(data->heap.sites.count + 1, sizeof *v.of) };
    bool good = v.of != NULL;

    *out = v.of;
    *nearest = 0;
    if (good && report_choice_is_timed(choice))
        return take_part(&v, nearest);
    if (good)
        take_totals(&v);
    if (good && (choice->tail > 0 || choice->tail_percent > 0.0))
        good = cut_tail(&v);
    return good;
}
