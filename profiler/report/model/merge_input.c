#include "profiler/report/model/merge_input.h"

#include <stdlib.h>

#include "profiler/report/model/amount.h"
#include "profiler/report/model/idle_threads.h"
#include "profiler/report/model/merge_awaited.h"
#include "profiler/report/model/merge_stacks.h"

/* An input while it is read. */
struct merge_input {
    struct report_merge *merge;
    const struct report_data *data;
    uint32_t *processes, *threads; /* of each of the input: the merged one's index */
    struct merge_stacks stacks;
    struct report_idle_threads idle;
};

/* Of a later version, or damaged. */
static uint32_t known_engine(uint32_t engine)
{
    return engine <= SFB_ENGINE_CALLS ? engine : SFB_ENGINE_NONE;
}

/* An instant of an input, on the clock of the merged recording. */
static uint64_t instant(const struct merge_input *in, uint64_t time)
{
    const struct sfb_recording_start *s = &in->data->start;
    const uint64_t at =
        report_saturated(s->realtime, time > s->monotonic ? time - s->monotonic : 0);

    if (at > in->merge->last)
        in->merge->last = at;
    return at;
}

/* --- Processes and threads --------------------------------------------------------------------- */

static bool add_process(struct merge_input *in, size_t i)
{
    struct report_merge *m = in->merge;
    const struct report_process *p = &in->data->processes.at[i];
    struct merged_process *merged;
    uint32_t text, at;
    bool found;

    if (!report_strings_add(&m->texts, p->program, &text) ||
        !report_index_find(&m->process_index, text, 0, (uint32_t)m->processes.count, &at, &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    in->processes[i] = at;
    if (!found) {
        const struct sfb_recording_process event = { .id = at + 1,
                                                     .pid = at + 1,
                                                     .how = p->how,
                                                     .time = instant(in, p->time),
                                                     .program = p->program,
                                                     .arguments = p->arguments,
                                                     .arguments_size = p->arguments_size };

        merged = REPORT_NEXT(m->processes);
        if (!merged)
            return report_merge_fail(m, SFB_NO_RESOURCE);
        merged->time = event.time;
        if (!report_merge_check(m, sfb_recording_put_process(m->writer, &event)))
            return false;
    }
    merged = &m->processes.at[at];
    merged->cpu_ns = report_saturated(merged->cpu_ns, p->cpu_ns);
    merged->unsampled_ns = report_saturated(merged->unsampled_ns, p->unsampled_ns);
    merged->running |= !p->ended || p->end == SFB_PROCESS_LEFT;
    if (p->ended && instant(in, p->end_time) > merged->end)
        merged->end = instant(in, p->end_time);
    return true;
}

/* @param out  0: the thread is not idle; else the number of the place where it is. @return false: the merge failed */
static bool idle_place(struct merge_input *in, size_t i, uint32_t *out)
{
    struct report_merge *m = in->merge;
    const uint32_t wait = in->idle.waits[i];
    const struct report_wait *w = wait == REPORT_NONE ? NULL : &in->data->waits.at[wait];
    uint32_t stack, call;
    bool found;

    *out = 0;
    if (!w)
        return true;
    if (!merge_stacks_find(&in->stacks, w->stack, w->thread, w->time, &stack))
        return false;
    if (!report_strings_add(&m->texts, in->data->calls.all.at[w->call], &call) ||
        !report_index_find(&m->idle_index, stack, (uint64_t)w->state << 32 | call,
                           m->idle_count + 1, out, &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    m->idle_count += !found;
    return true;
}

/* Of bytes that are not trusted. */
static uint32_t idle_sum(uint32_t a, uint32_t b)
{
    const uint64_t sum = (uint64_t)a + b;

    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX - 1;
}

/* Idle threads of one name and place are one, beside the others of that name. */
static bool add_thread(struct merge_input *in, size_t i)
{
    struct report_merge *m = in->merge;
    const struct report_thread *t = &in->data->threads.at[i];
    const uint32_t process = in->processes[t->process];
    struct merged_thread *merged;
    uint32_t text, at, place;
    bool found;

    if (!idle_place(in, i, &place))
        return false;
    if (!report_strings_add(&m->texts, t->name, &text) ||
        !report_index_find(&m->thread_index, (uint64_t)process << 32 | text, place,
                           (uint32_t)m->threads.count, &at, &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    in->threads[i] = at;
    if (!found) {
        const struct sfb_recording_thread event = { .id = at + 1,
                                                    .process = process + 1,
                                                    .tid = at + 1,
                                                    .engine = known_engine(t->engine),
                                                    .time = instant(in, t->time),
                                                    .name = t->name,
                                                    .idle = 1 };

        merged = REPORT_NEXT(m->threads);
        if (!merged)
            return report_merge_fail(m, SFB_NO_RESOURCE);
        *merged = (struct merged_thread){
            .process = process, .name = text, .engine = event.engine, .time = event.time
        };
        if (!report_merge_check(m, sfb_recording_put_thread(m->writer, &event)))
            return false;
    }
    merged = &m->threads.at[at];
    if (place > 0)
        merged->idle = idle_sum(merged->idle, report_idle_count(t));
    merged->cpu_ns = report_saturated(merged->cpu_ns, t->cpu_ns);
    merged->unsampled_ns = report_saturated(merged->unsampled_ns, t->unsampled_ns);
    if (t->ended && instant(in, t->end_time) > merged->end)
        merged->end = instant(in, t->end_time);
    return true;
}

/* --- Samples and waits -------------------------------------------------------------------------- */

static bool add_sample(struct merge_input *in, const struct report_sample *s)
{
    struct sfb_recording_sample event = { .thread = in->threads[s->thread] + 1,
                                          .time = instant(in, s->time),
                                          .weight = s->weight,
                                          .engine = known_engine(s->engine),
                                          .end = s->end };

    return merge_stacks_find(&in->stacks, s->stack, s->thread, s->time, &event.stack) &&
           report_merge_check(in->merge, sfb_recording_put_sample(in->merge->writer, &event));
}

/* A wait may have begun before its recording: it stays apart from others that did. 0: not known */
static uint64_t beginning(const struct merge_input *in, uint64_t since)
{
    const struct sfb_recording_start *s = &in->data->start;
    const uint64_t before = s->monotonic - since;

    if (since == 0 || since >= s->monotonic)
        return since == 0 ? 0 : instant(in, since);
    return s->realtime > before ? s->realtime - before : 1;
}

/* Which thread had the mutex, if it is known which one that was. */
static bool add_holder(struct merge_input *in, const struct report_wait *w,
                       struct sfb_recording_wait *event)
{
    if (event->awaited == 0 || w->holder == REPORT_NONE)
        return true;
    event->holder = in->threads[w->holder] + 1;
    return merge_stacks_find(&in->stacks, w->holder_stack, w->holder, w->time,
                             &event->holder_stack);
}

/* What ended the wait, if it is known. */
static bool add_waker(struct merge_input *in, const struct report_wait *w,
                      struct sfb_recording_wait *event)
{
    event->waker_name = in->data->calls.all.at[w->waker_name];
    if (w->waker == REPORT_NONE)
        return true;
    event->waker = in->threads[w->waker] + 1;
    return merge_stacks_find(&in->stacks, w->waker_stack, w->waker, w->time, &event->waker_stack);
}

static bool add_wait(struct merge_input *in, const struct report_wait *w)
{
    struct sfb_recording_wait event = { .thread = in->threads[w->thread] + 1,
                                        .time = instant(in, w->time),
                                        .weight = w->weight,
                                        .state = w->state,
                                        .end = w->end,
                                        .call = in->data->calls.all.at[w->call],
                                        .since = beginning(in, w->since) };

    if (!merge_awaited_find(&in->stacks, w, &event.awaited) || !add_holder(in, w, &event) ||
        !add_waker(in, w, &event))
        return false;
    return merge_stacks_find(&in->stacks, w->stack, w->thread, w->time, &event.stack) &&
           report_merge_check(in->merge, sfb_recording_put_wait(in->merge->writer, &event));
}

static bool add_mark(struct merge_input *in, const struct report_moment *mark)
{
    const struct sfb_recording_mark event = { .time = instant(in, mark->time), .name = mark->name };

    return report_merge_check(in->merge, sfb_recording_put_mark(in->merge->writer, &event));
}

static struct merge_pause pause_of(const struct merge_input *in, const struct report_pause *p)
{
    const uint64_t to = p->to > 0 ? p->to : report_data_end(in->data);

    return (struct merge_pause){ instant(in, p->from), instant(in, to), p->part };
}

static bool add_pauses(struct merge_input *in)
{
    const struct report_data *d = in->data;
    struct merge_pauses *all = &in->merge->pauses;
    bool good =
        merge_pauses_begin(all, instant(in, d->start.monotonic), instant(in, report_data_end(d)));

    for (size_t i = 0; good && i < d->pauses.count; i++)
        good = merge_pauses_add(all, pause_of(in, &d->pauses.at[i]));
    for (size_t i = 0; good && i < d->part_pauses.count; i++)
        good = merge_pauses_add(all, pause_of(in, &d->part_pauses.at[i]));
    return merge_pauses_end(all) && good ? true : report_merge_fail(in->merge, SFB_NO_RESOURCE);
}

static bool add_loss(struct merge_input *in, const struct report_loss *loss)
{
    struct report_merge *m = in->merge;
    struct merged_loss *merged;
    uint32_t text, at;
    bool found;

    if (!report_strings_add(&m->texts, loss->text, &text) ||
        !report_index_find(&m->loss_index, loss->reason, text, (uint32_t)m->losses.count, &at,
                           &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    merged = found ? &m->losses.at[at] : REPORT_NEXT(m->losses);
    if (!merged)
        return report_merge_fail(m, SFB_NO_RESOURCE);
    merged->reason = loss->reason;
    merged->text = text;
    merged->count = report_saturated(merged->count, loss->count);
    return true;
}

/* The merged recording lacks what this version does not know. */
static bool add_later(struct merge_input *in)
{
    const struct sfb_recording_health *h = &in->data->health;
    static char records[] = "", blocks[] = "at least, in whole blocks";
    const struct report_loss losses[] = {
        { .reason = SFB_LOSS_LATER, .count = h->unknown_records, .text = records },
        { .reason = SFB_LOSS_LATER, .count = h->unknown_blocks, .text = blocks }
    };

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count > 0 && !add_loss(in, &losses[i]))
            return false;
    return true;
}

/* --- Inputs ------------------------------------------------------------------------------------ */

static bool add_all(struct merge_input *in)
{
    const struct report_data *d = in->data;
    bool good = true;

    instant(in, report_data_end(d));
    for (size_t i = 0; good && i < d->processes.count; i++)
        good = add_process(in, i);
    for (size_t i = 0; good && i < d->threads.count; i++)
        good = add_thread(in, i);
    for (size_t i = 0; good && i < d->samples.count; i++)
        good = add_sample(in, &d->samples.at[i]);
    for (size_t i = 0; good && i < d->waits.count; i++)
        good = add_wait(in, &d->waits.at[i]);
    for (size_t i = 0; good && i < d->marks.count; i++)
        good = add_mark(in, &d->marks.at[i]);
    good = good && add_pauses(in);
    for (size_t i = 0; good && i < d->losses.count; i++)
        good = add_loss(in, &d->losses.at[i]);
    return good && add_later(in);
}

enum sfb_status report_merge_add(struct report_merge *m, const struct report_data *d)
{
    struct merge_input in = { .merge = m, .data = d };
    bool good;

    /* NOLINTBEGIN(clang-analyzer-unix.Malloc): it loses sight of members of a struct whose address is given on */
    in.processes = calloc(d->processes.count + 1, sizeof *in.processes);
    in.threads = calloc(d->threads.count + 1, sizeof *in.threads);
    good = merge_stacks_begin(&in.stacks, m, d, in.processes);
    good = report_idle_threads_find(&in.idle, d, NULL) && good;
    /* NOLINTEND(clang-analyzer-unix.Malloc) */
    if (!good || !in.processes || !in.threads)
        report_merge_fail(m, SFB_NO_RESOURCE);
    else if (m->status == SFB_OK)
        add_all(&in);
    merge_stacks_free(&in.stacks);
    report_idle_threads_free(&in.idle);
    free(in.processes);
    free(in.threads);
    errno = m->error;
    return m->status;
}
