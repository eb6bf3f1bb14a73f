#include "profiler/collector/outside/look_events.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/collector/outside/look_waits.h"

/*
 * Waits of all threads together, a second, and of one, where all wait more often. A record costs up to 5 us where processes
 * alternate: 1 % of a CPU. A stack is 8 KiB, which are copied and walked.
 */
enum { RECORDS_MOST = 2000, EACH_MOST = 200 };

/*
 * Samples between two judgements, for each wait that is allowed: of its beginning, and of its wake-up. Where a calm thread gets
 * busy, they end at once. Threads of a pool, as Go's, do so in turn.
 */
enum { SAMPLES = 3 };

/* A thread gets events if all have waited so much less. */
enum { CALM = 2 };

/* How often a new thread waits is seen for so long before its stacks are copied. */
enum { FIRST_NS = 100000000 };

static const uint64_t second_ns = 1000000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

struct candidate {
    struct look_process *process;
    struct look_thread *thread;
    uint64_t turns; /* a second */
};

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->turns != y->turns)
        return x->turns < y->turns ? -1 : 1;
    return (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid);
}

/* From now on it is known, or is not, what wakes a thread up. */
static void note_woken(struct look_thread *t, bool recorded, uint64_t now)
{
    if (!recorded)
        t->woken_since = 0;
    else if (t->woken_since == 0)
        t->woken_since = now;
}

void look_events_begin(struct looks *l, struct look_thread *t)
{
    t->judged_turns = t->turns;
    if (!l->events || l->paused)
        return;
    wait_events_set(l->events, &t->events, t->tid, l->room);
    l->has_new = true;
}

void look_events_pause(struct looks *l, uint64_t now, bool paused)
{
    if (!l->events)
        return;
    wait_events_pause(l->events, paused);
    for (size_t i = 0; paused && i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++)
            look_events_end(l, &l->processes.at[i]->threads.at[k]);
    l->woken_changed = true;
    l->waits_since = 0;
    l->judged = now;
}

void look_events_end(struct looks *l, struct look_thread *t)
{
    note_woken(t, false, 0);
    wait_events_free(l->events, &t->events);
}

/* @return turns a second since it was judged. They count anew where an exec has given its number to another thread */
static uint64_t turns_of(const struct look_thread *t, uint64_t ns)
{
    const uint64_t turns = t->turns > t->judged_turns ? t->turns - t->judged_turns : 0;

    return (uint64_t)((double)turns * (double)second_ns / (double)ns);
}

/* Threads, those first that wait least. @return for free(); NULL: no memory */
static struct candidate *rank(const struct looks *l, uint64_t ns, size_t *count)
{
    struct candidate *all;

    *count = 0;
    for (size_t i = 0; i < l->processes.count; i++)
        *count += l->processes.at[i]->threads.count;
    all = calloc(*count + 1, sizeof *all);
    if (!all)
        return NULL;
    *count = 0;
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++) {
            struct look_thread *t = &l->processes.at[i]->threads.at[k];

            all[(*count)++] = (struct candidate){ l->processes.at[i], t, turns_of(t, ns) };
            t->judged_turns = t->turns;
        }
    if (*count > 1)
        qsort(all, *count, sizeof *all, compare);
    return all;
}

/* Whether a thread waits so seldom that it may have records. One that has them keeps them up to twice as many waits. */
static bool is_below(const struct candidate *c, bool has, uint64_t turns, uint64_t each)
{
    const uint64_t times = has ? 1 : CALM;

    return turns * times <= RECORDS_MOST && c->turns * times <= each;
}

/*
 * What a thread may have, if it and those before it have so many turns together. Where all threads wait far more often, the program is a
 * busy server, whose requests pay for each record: there threads that wait seldom have them alone. A wait with both of its stacks costs up
 * to 30 us, and 1,300 of the 5,000 a second of Go's net/http were 6 % of its CPU time.
 */
static enum wait_rung rung_of(const struct looks *l, const struct candidate *c, uint64_t turns)
{
    const uint64_t each = l->busy ? EACH_MOST : RECORDS_MOST;

    if (is_below(c, look_has_own(c->thread), turns, each))
        return l->events->rung;
    return !l->events->own || is_below(c, look_is_exact(c->thread), turns, each) ? WAIT_SWITCHES
                                                                                 : WAIT_LOOKS;
}

static bool change(struct looks *l, const struct candidate *c, enum wait_rung rung)
{
    const enum wait_rung before = c->thread->events.rung;

    wait_events_set(l->events, &c->thread->events, c->thread->tid, rung);
    l->woken_changed |= c->thread->events.rung != before;
    return (before > WAIT_LOOKS) == (c->thread->events.rung > WAIT_LOOKS) ||
           look_wait_change(l, c->process, c->thread);
}

/* Gives each thread what it may have, in the order of their turns. */
static bool share_out(struct looks *l, uint64_t ns)
{
    size_t count;
    struct candidate *all = rank(l, ns, &count);
    uint64_t turns = 0, by_looks = 0, no_events = 0, whole = 0, given = 0;
    bool good = all != NULL;

    for (size_t i = 0; good && i < count; i++)
        whole += all[i].turns;
    l->busy = whole > RECORDS_MOST;
    for (size_t i = 0; good && i < count; i++) {
        enum wait_rung rung;

        turns += all[i].turns;
        rung = rung_of(l, &all[i], turns);
        given += rung > WAIT_LOOKS ? all[i].turns : 0;
        good = change(l, &all[i], rung);
        by_looks += rung == WAIT_LOOKS;
        no_events += rung > WAIT_LOOKS && all[i].thread->events.rung == WAIT_LOOKS &&
                     errno != ESRCH; /* it has ended */
    }
    l->samples_most = SAMPLES * (CALM * given + EACH_MOST);
    l->room = !l->events->own || CALM * turns <= RECORDS_MOST ? WAIT_SWITCHES : WAIT_LOOKS;
    l->by_looks_most = by_looks > l->by_looks_most ? by_looks : l->by_looks_most;
    l->no_events_most = no_events > l->no_events_most ? no_events : l->no_events_most;
    free(all);
    return good;
}

/*
 * Of these threads it is recorded what wakes them up. Without a descriptor that is tried again, and only those count that had it before.
 *
 * @return false: no memory
 */
static bool set_woken(struct looks *l, uint64_t now)
{
    size_t count = 0;
    bool set;
    pid_t *tids;

    if (!l->woken_changed || !l->events->wakes || now - l->woken_set < second_ns / 10)
        return true;
    for (size_t i = 0; i < l->processes.count; i++)
        count += l->processes.at[i]->threads.count;
    tids = calloc(count + 1, sizeof *tids);
    if (!tids)
        return false;
    count = 0;
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++)
            if (look_has_own(&l->processes.at[i]->threads.at[k]))
                tids[count++] = l->processes.at[i]->threads.at[k].tid;
    set = wait_events_wake(l->events, tids, count);
    free(tids);
    l->woken_changed = !set;
    l->woken_set = now_ns();
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++) {
            struct look_thread *t = &l->processes.at[i]->threads.at[k];

            note_woken(t, look_has_own(t) && (set || t->woken_since != 0), l->woken_set);
        }
    return true;
}

/* Whether it is time to judge: once a second; earlier of new threads, and if there are too many waits already. */
static bool is_due(const struct looks *l, uint64_t ns)
{
    return ns >= second_ns || (l->braked && !l->busy && ns >= FIRST_NS) ||
           (l->has_new && ns >= FIRST_NS) || l->waits_since > RECORDS_MOST;
}

bool look_events_judge(struct looks *l, uint64_t now)
{
    const uint64_t ns = now - l->judged;
    const bool inherited = l->events && !l->events->own;
    bool good;

    if (!l->events || l->paused)
        return true;
    if (!is_due(l, ns))
        return set_woken(l, now);
    if (l->waits_since * second_ns / (ns > 0 ? ns : 1) > RECORDS_MOST)
        l->events->own = true;
    l->judged = now;
    l->waits_since = l->samples_since = 0;
    l->braked = l->has_new = false;
    good = share_out(l, ns > 0 ? ns : 1);
    if (inherited && l->events->own)
        wait_events_disinherit(l->events);
    return good && set_woken(l, now);
}

bool look_events_allow(struct looks *l)
{
    if (l->braked)
        return false;
    if (l->samples_since++ < (l->busy ? l->samples_most : SAMPLES * RECORDS_MOST))
        return true;
    l->braked = true;
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++) {
            struct look_thread *t = &l->processes.at[i]->threads.at[k];

            note_woken(t, false, 0);
            if (look_has_own(t))
                wait_events_set(l->events, &t->events, t->tid, WAIT_SWITCHES);
        }
    wait_events_wake(l->events, NULL, 0);
    l->woken_changed = true;
    return false;
}
