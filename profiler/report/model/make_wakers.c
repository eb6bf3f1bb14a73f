#include "profiler/report/model/make_wakers.h"

#include "profiler/report/model/make_causes.h"
#include "profiler/report/model/wait_ends.h"

void report_wakers_begin(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    m->model->has_wakers |= report_data_has_wakers(data);
    for (size_t i = 0; !m->model->has_wakers && i < data->waits.count; i++)
        m->model->has_wakers = report_wait_has_waker(data, &data->waits.at[i]);
}

/* Where the waking thread was. @param end  the last part. @return false: no memory */
static bool add_place(const struct report_causes_maker *to, uint32_t cause,
                      const struct report_wait *end, uint64_t weight)
{
    struct report_cause_part part = {
        .cause = cause, .thread = REPORT_NONE, .wait = REPORT_NONE, .total = weight
    };

    return end->waker == REPORT_NONE ||
           (report_maker_stack(to->maker, end->waker_stack, end->time, &part.stack) &&
            report_cause_part_add(to, &part));
}

/* Where the woken thread waited. @return false: no memory */
static bool add_wait(const struct report_causes_maker *to, uint32_t cause,
                     const struct report_wait *w, uint32_t in, uint64_t weight)
{
    struct report_maker *m = to->maker;
    const struct report_data *data = m->model->sources[m->source].data;
    struct report_cause_part part = { .cause = cause, .wait = in, .total = weight };

    return report_strings_add(&m->model->strings, data->threads.at[w->thread].name, &part.thread) &&
           report_maker_stack(m, w->stack, w->time, &part.stack) &&
           report_cause_part_add(to, &part);
}

bool report_waker_add(struct report_maker *m, const struct report_wait *w, uint32_t in,
                      uint64_t weight)
{
    const struct report_causes_maker to = report_wakers_of(m);
    const struct report_data *data = m->model->sources[m->source].data;
    /* The time of each part is the waker's, which the last part alone names. */
    const struct report_wait *end = &data->waits.at[m->ends[w - data->waits.at]];
    const bool thread = end->waker != REPORT_NONE;
    struct report_cause_share share = { .member = m->first_member + w->thread,
                                        .other =
                                            thread ? m->first_member + end->waker : REPORT_NONE,
                                        .total = weight };

    if (!report_wait_has_waker(data, end)) {
        /* A thread that waits for a CPU is awake. */
        if (w->state != SFB_STATE_RUNNABLE)
            m->model->unended = report_saturated(m->model->unended, weight);
        return true;
    }
    return report_cause_add(&to,
                            thread ? data->threads.at[end->waker].name
                                   : data->calls.all.at[end->waker_name],
                            thread, w, weight, &share.cause) &&
           add_place(&to, share.cause, end, weight) && add_wait(&to, share.cause, w, in, weight) &&
           report_cause_share_add(&to, &share);
}
