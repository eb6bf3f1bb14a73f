#include "profiler/report/model/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool begin(struct report_replay *out, const struct report_heap_data *heap)
{
    out->at = calloc(heap->pairs.count + 1, sizeof *out->at);
    return out->at != NULL;
}

static void take(struct report_replay *r, uint32_t event)
{
    struct report_replayed *pair = &r->at[event >> 1];

    if (event & 1)
        pair->freed++;
    else
        pair->allocated++;
}

static uint32_t heap_of(const struct report_heap_data *heap, uint32_t event)
{
    return heap->sites.at[heap->pairs.at[event >> 1].site].heap;
}

bool report_replay_until(struct report_replay *out, const struct report_heap_data *heap,
                         uint64_t time)
{
    if (!begin(out, heap))
        return false;
    /* Processes are not in order, so no mark is the end. */
    for (size_t m = 0; m < heap->marks.count; m++) {
        const size_t end =
            m + 1 < heap->marks.count ? heap->marks.at[m + 1].event : heap->events.count;

        for (size_t i = heap->marks.at[m].event; heap->marks.at[m].time <= time && i < end; i++)
            take(out, heap->events.at[i]);
    }
    return true;
}

/* --- The peak ---------------------------------------------------------------------------------- */

struct course {
    uint64_t live, most;
    size_t end; /* behind the event at which most bytes lived */
};

/* Finds the instant of each. */
static void follow(const struct report_heap_data *heap, struct course *courses)
{
    for (size_t i = 0; i < heap->events.count; i++) {
        const uint32_t event = heap->events.at[i];
        const struct report_heap_pair *pair = &heap->pairs.at[event >> 1];
        const uint32_t number = heap_of(heap, event);
        struct course *course = &courses[number];
        struct report_amount blocks, bytes;

        report_estimate(heap->heaps.at[number].rate, pair->size, 1, &blocks, &bytes);
        if (event & 1) {
            course->live -= bytes.value < course->live ? bytes.value : course->live;
            continue;
        }
        course->live = report_saturated(course->live, bytes.value);
        if (course->live > course->most || course->end == 0) {
            course->most = course->live;
            course->end = i + 1;
        }
    }
}

bool report_replay_peaks(struct report_replay *out, const struct report_heap_data *heap)
{
    struct course *courses = calloc(heap->heaps.count + 1, sizeof *courses);
    const bool good = begin(out, heap) && courses;

    if (good)
        follow(heap, courses);
    for (size_t i = 0; good && i < heap->events.count; i++)
        if (i < courses[heap_of(heap, heap->events.at[i])].end)
            take(out, heap->events.at[i]);
    free(courses);
    return good;
}

/* --- The tail ---------------------------------------------------------------------------------- */

bool report_replay_tails(struct report_replay *out, const struct report_heap_data *heap,
                         const uint64_t *tails)
{
    size_t mark = 0;

    if (!begin(out, heap))
        return false;
    for (size_t i = 0; i < heap->pairs.count; i++)
        out->at[i].least = UINT64_MAX;
    for (size_t i = 0; i < heap->events.count; i++) {
        const uint32_t event = heap->events.at[i];
        struct report_replayed *pair = &out->at[event >> 1];
        uint64_t live = report_replayed_live(pair);

        while (mark + 1 < heap->marks.count && heap->marks.at[mark + 1].event <= i)
            mark++;
        take(out, event);
        if (heap->marks.at[mark].time <= tails[heap_of(heap, event)])
            continue;
        if (pair->least > live)
            pair->least = live;
        live = report_replayed_live(pair);
        if (pair->least > live)
            pair->least = live;
    }
    for (size_t i = 0; i < heap->pairs.count; i++)
        if (out->at[i].least == UINT64_MAX)
            out->at[i].least = report_replayed_live(&out->at[i]);
    return true;
}

void report_replay_free(struct report_replay *replay)
{
    free(replay->at);
    replay->at = NULL;
}

/* --- What it stands for ------------------------------------------------------------------------ */

void report_estimate(uint64_t rate, uint64_t size, uint64_t count, struct report_amount *blocks,
                     struct report_amount *bytes)
{
    const double n = (double)count, s = (double)size;

    if (rate == 0) {
        *blocks = (struct report_amount){ count, 0.0, 0 };
        *bytes = (struct report_amount){ size > 0 && count > UINT64_MAX / size ? UINT64_MAX
                                                                               : size * count,
                                         0.0, 0 };
        return;
    }
    /* The mean distance of samples is `rate`; a block of s bytes takes s + 1 steps. */
    const double p = -expm1(-(s + 1.0) / (double)rate);
    const double variance = n * (1.0 - p) / (p * p);

    *blocks = (struct report_amount){ report_rounded(n / p), variance, count };
    *bytes = (struct report_amount){ report_rounded(n * s / p), variance * s * s, count };
}

static void add(struct sfb_recording_heap_amount *to, uint64_t rate, uint64_t size, uint64_t count)
{
    struct report_amount blocks, bytes;

    report_estimate(rate, size, count, &blocks, &bytes);
    to->blocks = report_saturated(to->blocks, blocks.value);
    to->bytes = report_saturated(to->bytes, bytes.value);
    to->samples = report_saturated(to->samples, count);
    to->blocks_variance = report_saturated(to->blocks_variance, report_rounded(blocks.variance));
    to->bytes_variance = report_saturated(to->bytes_variance, report_rounded(bytes.variance));
}

static unsigned class_of(uint64_t size)
{
    const unsigned class = size == 0 ? 0 : 64U - (unsigned)__builtin_clzll(size);

    return class < SFB_HEAP_CLASSES ? class : SFB_HEAP_CLASSES - 1;
}

void report_replay_add(struct sfb_recording_heap_totals *to, uint64_t rate, uint64_t size,
                       const struct report_replayed *end, const struct report_replayed *peak)
{
    uint64_t *class = &to->sizes[class_of(size)];
    struct report_amount blocks, bytes;

    add(&to->allocated, rate, size, end->allocated);
    add(&to->live, rate, size, report_replayed_live(end));
    add(&to->peak, rate, size, report_replayed_live(peak));
    report_estimate(rate, size, end->allocated, &blocks, &bytes);
    *class = report_saturated(*class, blocks.value);
}
