#include "profiler/collector/outside/copy_depth.h"

#include <stdlib.h>

#include "profiler/collector/outside/perf_rings.h"

enum {
    PART = 20,     /* one of so many stacks that is cut: larger copies */
    CUT_LEAST = 5, /* stacks of a thread that are cut: enough to judge */
    SAMPLES_LEAST = 20
};

static const uint64_t patience_ns = 60000000000, patience_most_ns = 16 * 60000000000;

/* @return NULL: no memory */
static struct copy_thread *thread_of(struct copy_depth *d, uint32_t tid)
{
    struct copy_thread *next;
    uint32_t at;
    bool known;

    if (!report_index_find(&d->tids, tid, 0, (uint32_t)d->threads.count, &at, &known))
        return NULL;
    if (known)
        return at < d->threads.count ? &d->threads.at[at] : NULL;
    next = REPORT_NEXT(d->threads);
    if (next)
        *next = (struct copy_thread){ .samples = 0 };
    return next;
}

void copy_depth_note(struct copy_depth *d, uint32_t tid, bool cut, uint64_t now)
{
    struct copy_thread *t = thread_of(d, tid);

    if (d->calm == 0 || cut)
        d->calm = now;
    d->samples++;
    d->cut += cut;
    if (!t)
        return;
    t->samples++;
    t->cut += cut;
    d->short_of |= t->cut >= CUT_LEAST && t->cut * PART > t->samples;
}

/* Threads that live too short to be judged are so together. */
static bool is_short(const struct copy_depth *d)
{
    return d->short_of || (d->samples >= SAMPLES_LEAST && d->cut * PART > d->samples);
}

/* The next smaller one of 8, 16, 32 and 64 KiB. */
static uint32_t halved(uint32_t size)
{
    uint32_t smaller = PERF_STACK_LEAST;

    while (2 * smaller < size)
        smaller *= 2;
    return smaller;
}

static uint64_t patience_of(const struct copy_depth *d)
{
    return d->patience != 0 ? d->patience : patience_ns;
}

uint32_t copy_depth_wanted(const struct copy_depth *d, uint32_t size, uint32_t most, uint64_t now)
{
    if (is_short(d) && size < most)
        return 2 * size < most ? 2 * size : most;
    if (size > PERF_STACK_LEAST && d->calm != 0 && now > d->calm && now - d->calm >= patience_of(d))
        return halved(size);
    return size;
}

void copy_depth_change(struct copy_depth *d, bool larger, uint64_t now)
{
    /* They were made smaller in vain: not so soon again. */
    if (larger && d->lowered && patience_of(d) < patience_most_ns)
        d->patience = 2 * patience_of(d);
    d->lowered = !larger;
    d->calm = now;
    d->samples = d->cut = 0;
    d->short_of = false;
    for (size_t i = 0; i < d->threads.count; i++)
        d->threads.at[i] = (struct copy_thread){ .samples = 0 };
}

void copy_depth_free(struct copy_depth *d)
{
    report_index_free(&d->tids);
    free(d->threads.at);
    *d = (struct copy_depth){ .samples = 0 };
}
