#include "profiler/report/model/make_causes.h"

#include <stdlib.h>

#include "profiler/report/model/wait_ends.h"

bool report_causes_begin(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    m->ends = report_wait_ends(data);
    m->locks.waits = calloc(data->waits.count + 1, sizeof *m->locks.waits);
    m->wakers.waits = calloc(data->waits.count + 1, sizeof *m->wakers.waits);
    return m->ends && m->locks.waits && m->wakers.waits;
}

void report_causes_end(struct report_maker *m)
{
    free(m->ends);
    free(m->locks.waits);
    free(m->wakers.waits);
    m->ends = NULL;
    m->locks.waits = m->wakers.waits = NULL;
}

struct report_causes_maker report_locks_of(struct report_maker *m)
{
    return (struct report_causes_maker){ m, &m->model->locks, &m->locks };
}

struct report_causes_maker report_wakers_of(struct report_maker *m)
{
    return (struct report_causes_maker){ m, &m->model->wakers, &m->wakers };
}

/* @return false: no memory */
static bool find(const struct report_causes_maker *to, const char *name, bool thread, uint32_t *out)
{
    struct report_cause *cause;
    uint32_t text;
    bool found;

    if (!report_strings_add(&to->maker->model->strings, name, &text) ||
        !report_index_find(&to->own->names, text, thread, (uint32_t)to->causes->all.count, out,
                           &found))
        return false;
    if (found)
        return true;
    cause = REPORT_NEXT(to->causes->all);
    if (cause)
        *cause = (struct report_cause){ .name = text };
    return cause != NULL;
}

bool report_cause_add(const struct report_causes_maker *to, const char *name, bool thread,
                      const struct report_wait *w, uint64_t weight, uint32_t *out)
{
    const struct report_maker *m = to->maker;
    const struct report_data *data = m->model->sources[m->source].data;
    /* A wait's parts are one wait. */
    struct report_maker_wait *wait = &to->own->waits[m->ends[w - data->waits.at]];
    struct report_cause *cause;

    if (!find(to, name, thread, out))
        return false;
    cause = &to->causes->all.at[*out];
    if (wait->cause != *out + 1) {
        *wait = (struct report_maker_wait){ .cause = *out + 1 };
        cause->waits++;
    }
    wait->sum = report_saturated(wait->sum, weight);
    if (wait->sum > cause->longest)
        cause->longest = wait->sum;
    cause->total = report_saturated(cause->total, weight);
    return true;
}

bool report_cause_part_add(const struct report_causes_maker *to,
                           const struct report_cause_part *more)
{
    struct report_causes *causes = to->causes;
    const uint32_t stack = more->wait != REPORT_NONE ? more->wait : more->stack;
    struct report_cause_part *part;
    uint32_t at;
    bool found;

    if (!report_index_find(&to->own->parts, (uint64_t)more->cause << 32 | more->thread, stack,
                           (uint32_t)causes->parts.count, &at, &found))
        return false;
    part = found ? &causes->parts.at[at] : REPORT_NEXT(causes->parts);
    if (!part)
        return false;
    if (found)
        part->total = report_saturated(part->total, more->total);
    else
        *part = *more;
    return true;
}

bool report_cause_share_add(const struct report_causes_maker *to,
                            const struct report_cause_share *more)
{
    struct report_causes *causes = to->causes;
    struct report_cause_share *share;
    uint32_t at;
    bool found;

    if (!report_index_find(&to->own->shares, (uint64_t)more->member << 32 | more->other,
                           more->cause, (uint32_t)causes->shares.count, &at, &found))
        return false;
    share = found ? &causes->shares.at[at] : REPORT_NEXT(causes->shares);
    if (!share)
        return false;
    if (found)
        share->total = report_saturated(share->total, more->total);
    else
        *share = *more;
    return true;
}
