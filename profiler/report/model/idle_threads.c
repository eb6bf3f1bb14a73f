#include "profiler/report/model/idle_threads.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/amount.h"
#include "util/fnv.h"
#include "util/index.h"

/*
 * A thread is idle if it waits so much of its time at one place, and others of its process do, too. It is there for so much of
 * the run.
 */
#define IDLE_SHARE 0.95
#define LIFE_SHARE 0.5
enum { POOL_LEAST = 2 };

/* Waits of a thread at one place. */
struct place {
    uint32_t wait; /* the first of them */
    uint64_t weight;
};

struct places {
    struct report_index index; /* by thread and stack, state and call */
    REPORT_ARRAY(struct place) all;
    uint64_t *lives; /* of each thread: the sum of its samples and waits */
};

/* --- Stacks --------------------------------------------------------------------------------------- */

static bool has_same_calls(const struct report_data *data, uint32_t a, uint32_t b)
{
    const struct report_code_frames *x = report_data_code_frames(data, data->stacks.at[a].id),
                                    *y = report_data_code_frames(data, data->stacks.at[b].id);

    if (!x || !y)
        return x == y;
    if (x->count != y->count || x->gil != y->gil)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->frames[i].frame != y->frames[i].frame || x->frames[i].code != y->frames[i].code ||
            x->frames[i].line != y->frames[i].line)
            return false;
    return true;
}

static bool is_same(const struct report_data *data, uint32_t a, uint32_t b)
{
    const struct report_cbf *x = &data->stacks.at[a], *y = &data->stacks.at[b];

    return x->process == y->process && x->size == y->size &&
           memcmp(x->bytes, y->bytes, x->size) == 0 && has_same_calls(data, a, b);
}

/* A recording has a stack again after each new list of modules, which new threads make. @return false: no memory */
static bool find_same(uint32_t *out, const struct report_data *data)
{
    struct report_index index = { .count = 0 };
    bool good = true;

    for (uint32_t i = 0; good && i < data->stacks.count; i++) {
        const struct report_cbf *s = &data->stacks.at[i];
        bool known;

        good = report_index_find(&index, sfb_fnv(SFB_FNV_START, s->bytes, s->size), s->process, i,
                                 &out[i], &known);
        if (good && known && !is_same(data, out[i], i))
            out[i] = i;
    }
    report_index_free(&index);
    return good;
}

/* --- Places ---------------------------------------------------------------------------------------- */

static bool sum_places(struct places *out, const struct report_data *data,
                       const struct report_idle_threads *threads)
{
    out->lives = calloc(data->threads.count + 1, sizeof *out->lives);
    if (!out->lives)
        return false;
    for (size_t i = 0; i < data->samples.count; i++)
        out->lives[data->samples.at[i].thread] += data->samples.at[i].weight;
    for (size_t i = 0; i < data->waits.count; i++) {
        const struct report_wait *w = &data->waits.at[i];
        uint32_t at;
        bool known;

        if (!report_index_find(
                &out->index, (uint64_t)w->thread << 32 | report_idle_stack(threads, w),
                (uint64_t)w->state << 32 | w->call, (uint32_t)out->all.count, &at, &known))
            return false;
        if (!known) {
            struct place *place = REPORT_NEXT(out->all);

            if (!place)
                return false;
            place->wait = (uint32_t)i;
        }
        out->all.at[at].weight = report_saturated(out->all.at[at].weight, w->weight);
        out->lives[w->thread] = report_saturated(out->lives[w->thread], w->weight);
    }
    return true;
}

/*
 * Whether a thread may be of a pool. A merged recording says so: its threads stand for several, of runs at other times.
 */
static bool may_idle(const struct report_thread *thread, uint64_t life, uint64_t run)
{
    return thread->idle > 0 ? thread->idle > 1 : (double)life >= LIFE_SHARE * (double)run;
}

/* Pools are known by stack, state and call: a first pass counts their threads, a second takes pools of two and more. */
static bool take_pools(struct report_idle_threads *out, const struct report_data *data,
                       const struct places *places, const bool *wanted, uint64_t run)
{
    struct report_index pools = { .count = 0 };
    uint32_t *threads = calloc(places->all.count + 1, sizeof *threads), count = 0;
    bool good = threads != NULL;

    for (unsigned pass = 0; good && pass < 2; pass++)
        for (size_t i = 0; good && i < places->all.count; i++) {
            const struct place *p = &places->all.at[i];
            const struct report_wait *w = &data->waits.at[p->wait];
            const struct report_thread *thread = &data->threads.at[w->thread];
            const uint64_t life = places->lives[w->thread];
            uint32_t at;
            bool known;

            if (w->stack == REPORT_NONE || w->state == SFB_STATE_RUNNABLE ||
                (double)p->weight < IDLE_SHARE * (double)life || !may_idle(thread, life, run) ||
                (wanted && !wanted[w->thread]))
                continue;
            good = report_index_find(&pools, report_idle_stack(out, w),
                                     (uint64_t)w->state << 32 | w->call, count, &at, &known);
            count += good && !known;
            if (good && pass == 0)
                threads[at] += report_idle_count(thread);
            if (!good || pass == 0 || threads[at] < POOL_LEAST)
                continue;
            out->waits[w->thread] = p->wait;
            out->weights[w->thread] = p->weight;
        }
    report_index_free(&pools);
    free(threads);
    return good;
}

bool report_idle_threads_find(struct report_idle_threads *out, const struct report_data *data,
                              const bool *wanted)
{
    const uint64_t length = report_data_recorded(data);
    struct places places = { .all = { .count = 0 } };
    bool good;

    out->waits = malloc((data->threads.count + 1) * sizeof *out->waits);
    out->weights = calloc(data->threads.count + 1, sizeof *out->weights);
    out->stacks = calloc(data->stacks.count + 1, sizeof *out->stacks);
    good = out->waits && out->weights && out->stacks;
    for (size_t i = 0; good && i < data->threads.count; i++)
        out->waits[i] = REPORT_NONE;
    if (good && length > 0 && data->waits.count > 0)
        good = find_same(out->stacks, data) && sum_places(&places, data, out) &&
               take_pools(out, data, &places, wanted, length);
    report_index_free(&places.index);
    free(places.all.at);
    free(places.lives);
    if (!good)
        report_idle_threads_free(out);
    return good;
}

void report_idle_threads_free(struct report_idle_threads *threads)
{
    free(threads->waits);
    free(threads->weights);
    free(threads->stacks);
    *threads = (struct report_idle_threads){ .waits = NULL };
}
