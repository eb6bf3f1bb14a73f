#include "profiler/report/model/merge_pauses.h"

#include <stdlib.h>

/* Of inputs, where a damaged file has numbered them: those behind have numbers, too. */
enum { NUMBERS_MOST = 1 << 30 };

bool merge_pauses_begin(struct merge_pauses *p, uint64_t from, uint64_t to)
{
    struct merge_pause *input = REPORT_NEXT(p->inputs);

    p->first_own = p->own.count;
    p->nested = 0;
    if (input)
        *input = (struct merge_pause){ .from = from, .to = to };
    return input != NULL;
}

bool merge_pauses_add(struct merge_pauses *p, struct merge_pause pause)
{
    const struct merge_pause *input = &p->inputs.at[p->inputs.count - 1];
    struct merge_pause *next;

    /* A damaged file may have any time. Two pauses of one input never count twice. */
    if (pause.part == 0 && p->own.count > p->first_own &&
        pause.from < p->own.at[p->own.count - 1].to)
        pause.from = p->own.at[p->own.count - 1].to;
    if (pause.to > input->to)
        pause.to = input->to;
    if (pause.from >= pause.to || (uint64_t)pause.part + p->numbers > NUMBERS_MOST)
        return true;
    if (pause.part > p->nested)
        p->nested = pause.part;
    if (pause.part > 0)
        pause.part += p->numbers;
    next = pause.part > 0 ? REPORT_NEXT(p->parts) : REPORT_NEXT(p->own);
    if (next)
        *next = pause;
    return next != NULL;
}

bool merge_pauses_end(struct merge_pauses *p)
{
    bool good = true;

    for (size_t i = p->first_own; good && p->nested == 0 && i < p->own.count; i++) {
        struct merge_pause *next = REPORT_NEXT(p->parts);

        good = next != NULL;
        if (next)
            *next = (struct merge_pause){ p->own.at[i].from, p->own.at[i].to, p->numbers + 1 };
    }
    p->numbers += p->nested > 0 ? p->nested : 1;
    return good;
}

/* --- What all of them pause ------------------------------------------------------------------------------ */

/* Inputs begin or end, or pause. */
struct change {
    uint64_t time;
    int64_t running, paused;
};

static int compare(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

/* @return for free(); NULL: no memory */
static struct change *make_changes(const struct merge_pauses *p, size_t *count)
{
    struct change *all = malloc((2 * (p->inputs.count + p->own.count) + 1) * sizeof *all);
    size_t n = 0;

    for (size_t i = 0; all && i < p->inputs.count; i++) {
        all[n++] = (struct change){ p->inputs.at[i].from, 1, 0 };
        all[n++] = (struct change){ p->inputs.at[i].to, -1, 0 };
    }
    for (size_t i = 0; all && i < p->own.count; i++) {
        all[n++] = (struct change){ p->own.at[i].from, 0, 1 };
        all[n++] = (struct change){ p->own.at[i].to, 0, -1 };
    }
    if (n > 1)
        qsort(all, n, sizeof *all, compare);
    *count = n;
    return all;
}

static enum sfb_status write_common(const struct merge_pauses *p, struct sfb_recording_writer *w,
                                    uint64_t last)
{
    enum sfb_status status = SFB_OK;
    size_t count = 0;
    struct change *all = make_changes(p, &count);
    int64_t running = 0, paused = 0;
    bool now = false;

    for (size_t i = 0; status == SFB_OK && i < count;) {
        const uint64_t time = all[i].time;
        bool all_paused;

        for (; i < count && all[i].time == time; i++) {
            running += all[i].running;
            paused += all[i].paused;
        }
        all_paused = running > 0 && paused == running;
        if (all_paused != now && (all_paused || time < last))
            status =
                sfb_recording_put_pause(w, &(struct sfb_recording_pause){ time, all_paused, 0 });
        now = all_paused;
    }
    free(all);
    return all ? status : SFB_NO_RESOURCE;
}

enum sfb_status merge_pauses_write(const struct merge_pauses *p, struct sfb_recording_writer *w,
                                   uint64_t last)
{
    enum sfb_status status = p->own.count > 0 ? write_common(p, w, last) : SFB_OK;

    for (size_t i = 0; status == SFB_OK && i < p->parts.count; i++) {
        const struct merge_pause *part = &p->parts.at[i];
        const struct sfb_recording_pause begin = { part->from, 1, part->part },
                                         end = { part->to, 0, part->part };

        status = sfb_recording_put_pause(w, &begin);
        if (status == SFB_OK && part->to < last)
            status = sfb_recording_put_pause(w, &end);
    }
    return status;
}

void merge_pauses_free(struct merge_pauses *p)
{
    free(p->inputs.at);
    free(p->own.at);
    free(p->parts.at);
}
