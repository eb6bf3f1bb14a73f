#include "profiler/collector/outside/look_ended.h"

#include "profiler/collector/outside/outside.h"

/* Waits without a wake-up between two readings of schedstat. More of them count as they are. */
enum { UNSURE_MOST = 64 };

/* Records and schedstat differ by as much for other reasons. */
static const uint64_t moment_ns = 1000000;

/* What a thread did between the last records and schedstat is in the one alone: no more of it. */
static const uint64_t between_ns = 5000000;

static bool put(struct looks *l, const struct look_process *p, const struct look_thread *t,
                struct sfb_recording_wait wait)
{
    return wait.weight == 0 ||
           outside_take_wait(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, &wait);
}

/* schedstat has its time as well, and is read later. */
static bool put_wait(struct looks *l, const struct look_process *p, struct look_thread *t,
                     const struct look_ended *ended, uint64_t end)
{
    t->wait.blocked -= (int64_t)(end - ended->off);
    return put(l, p, t,
               (struct sfb_recording_wait){ .stack = ended->left.place.stack,
                                            .end = ended->left.place.end,
                                            .time = end,
                                            .weight = end - ended->off,
                                            .state = ended->left.state,
                                            .call = ended->left.call,
                                            .awaited = ended->left.awaited,
                                            .since = ended->off,
                                            .waker = ended->woken.thread,
                                            .waker_stack = ended->woken.stack,
                                            .waker_name = ended->woken.name });
}

/*
 * Time that it was runnable is in its schedstat as well, which is read later, or was read before this record came. schedstat may
 * have it some 0.1 ms before the time of the record.
 */
static void count_runnable(struct look_wait *w, uint64_t to, uint64_t ns)
{
    const uint64_t known = w->runnable < ns ? w->runnable : ns;

    w->runnable -= known;
    w->fresh -= known < w->fresh ? known : w->fresh;
    *(to > w->seen ? &w->ahead : &w->twice) += ns - known;
}

bool look_ended_runnable(struct looks *l, const struct look_process *p, struct look_thread *t,
                         const struct outside_place *place, uint64_t from, uint64_t to)
{
    if (to <= from || place->stack == 0)
        return true;
    count_runnable(&t->wait, to, to - from);
    return put(l, p, t,
               (struct sfb_recording_wait){ .stack = place->stack,
                                            .end = place->end,
                                            .time = to,
                                            .weight = to - from,
                                            .state = SFB_STATE_RUNNABLE,
                                            .call = "" });
}

static bool put_ended(struct looks *l, const struct look_process *p, struct look_thread *t,
                      const struct look_ended *ended, uint64_t end)
{
    return put_wait(l, p, t, ended, end) &&
           look_ended_runnable(l, p, t, &ended->left.place, end, ended->on);
}

bool look_ended_take(struct looks *l, const struct look_process *p, struct look_thread *t,
                     uint64_t end, uint64_t on)
{
    struct look_wait *w = &t->wait;
    const struct look_ended ended = { .left = w->left, .woken = w->woken, .off = w->off, .on = on };
    struct look_ended *next;

    if (w->woken.time != 0 || t->unsure.count >= UNSURE_MOST)
        return put_ended(l, p, t, &ended, end);
    next = REPORT_NEXT(t->unsure);
    if (!next)
        return false;
    *next = ended;
    w->unsure += on - ended.off;
    return true;
}

/* What schedstat calls blocked and neither the present wait has, nor one that looks have seen. Below 0: it lacks as much. */
static int64_t left_of_blocked(const struct look_wait *w)
{
    const uint64_t since = w->off != 0 ? w->off : w->preempted;
    const uint64_t present = since != 0 && w->seen > since ? w->seen - since : 0;

    return w->blocked - (int64_t)(present + w->claim + w->claim_short);
}

/*
 * A thread that waits was blocked for as long as records say. What schedstat calls runnable instead was sleep. Why it does is not
 * proved: Linux 6.12 and later may dequeue a thread late, and count from there on if it changes CPUs meanwhile.
 */
static void correct(struct look_wait *w)
{
    const int64_t left = left_of_blocked(w);
    uint64_t part = left < 0 ? (uint64_t)-left : 0;

    if (w->off == 0 || part < moment_ns)
        return;
    part = part < w->runnable ? part : w->runnable;
    w->runnable -= part;
    w->fresh = w->fresh < w->runnable ? w->fresh : w->runnable;
    w->blocked += (int64_t)part;
}

/* The longest one, most likely, waited for a CPU in the end. */
static struct look_ended *longest(const struct look_thread *t)
{
    struct look_ended *best = t->unsure.at;

    for (size_t i = 1; i < t->unsure.count; i++)
        if (t->unsure.at[i].on - t->unsure.at[i].off > best->on - best->off)
            best = &t->unsure.at[i];
    return best;
}

bool look_ended_settle(struct looks *l, const struct look_process *p, struct look_thread *t,
                       bool at_last)
{
    struct look_wait *w = &t->wait;
    const bool known = w->seen < l->drained + between_ns;
    const int64_t blocked = left_of_blocked(w);
    const uint64_t left = blocked > 0 ? (uint64_t)blocked : 0;
    uint64_t queued = known && w->unsure > left + moment_ns ? w->unsure - left : 0;
    bool good = true;

    if (!known && !at_last)
        return true;
    if (queued > w->runnable) /* what schedstat has, and no record */
        queued = w->runnable;

    while (good && t->unsure.count > 0) {
        struct look_ended *ended = longest(t);
        const uint64_t ns = ended->on - ended->off, part = queued < ns ? queued : ns;

        queued -= part;
        good = put_ended(l, p, t, ended, ended->on - part);
        *ended = t->unsure.at[--t->unsure.count];
    }
    w->unsure = 0;
    /* Without wake-ups, as in a PID namespace, records have the time in the queue as well. */
    if (known && look_has_own(t) && l->events->wakes)
        correct(w);
    return good;
}
