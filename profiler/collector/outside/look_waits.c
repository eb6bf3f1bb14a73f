#include "profiler/collector/outside/look_waits.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "profiler/collector/outside/look_awaited.h"
#include "profiler/collector/outside/look_cpu.h"
#include "profiler/collector/outside/look_ended.h"
#include "profiler/collector/outside/look_holders.h"
#include "sfb/remote.h"

enum { COPY = 16 << 10, TRIES = 4 };

/* By looks alone, a thread that has not run at so many looks in a row is looked at in every second round. */
enum { RESTING = 20 };

/* A long wait is recorded in parts, so that a recording that is cut off has most of it. */
static const uint64_t part_ns = 1000000000, moment_ns = 50000;

/* Short waits are recorded as often: they stand nearly where they were. */
static const uint64_t brief_ns = 100000000, gap_ns = 10000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool put(struct looks *l, const struct look_process *p, const struct look_thread *t,
                struct sfb_recording_wait wait)
{
    return wait.weight == 0 ||
           outside_take_wait(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, &wait);
}

static bool is_placed(const struct look_wait *w)
{
    return w->off != 0 && w->placed_at >= w->off;
}

/* Records the time at the place where the thread slept. */
static bool flush(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    struct look_wait *w = &t->wait;
    const uint64_t weight = w->pending;
    /* The wait that is recorded may have ended before this look, and a short one after it. */
    const bool has_ended = !look_is_exact(t) || !is_placed(w);
    const uint64_t woke = w->place_until != 0 ? w->place_until : look_is_exact(t) ? w->woke : 0;
    const uint64_t end = has_ended && woke != 0 && woke < w->seen ? woke : w->seen;

    const struct look_waker waker = w->waker;

    w->pending = 0;
    w->pending_since = end;
    w->place_until = 0;
    w->waker = (struct look_waker){ .time = 0 };
    return put(
        l, p, t,
        (struct sfb_recording_wait){ .stack = w->place.stack,
                                     .end = w->place.end,
                                     .time = end,
                                     .weight = weight,
                                     .state = w->state,
                                     .call = w->call,
                                     .awaited = w->awaited,
                                     .since = w->awaited != 0 || look_has_own(t) ? w->began : 0,
                                     .holder = w->holder,
                                     .holder_stack = w->holder_stack,
                                     .waker = waker.thread,
                                     .waker_stack = waker.stack,
                                     .waker_name = waker.name });
}

/* Records what no look has placed. */
static bool put_rest(struct looks *l, const struct look_process *p, const struct look_thread *t,
                     uint32_t state, uint64_t weight)
{
    return put(l, p, t,
               (struct sfb_recording_wait){
                   .time = t->wait.seen, .weight = weight, .state = state, .call = "" });
}

/* It sleeps, or is on a CPU: schedstat has all time that it was runnable, and takes nothing back. */
static bool put_brief(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    const uint64_t weight = t->wait.brief;

    t->wait.brief = 0;
    t->wait.brief_put = t->wait.seen;
    return put_rest(l, p, t, SFB_STATE_UNKNOWN, weight);
}

/* Gives back what was blocked too long by schedstat, from time that is not recorded yet. */
static void balance(struct look_wait *w, uint64_t *from)
{
    const uint64_t more = w->blocked < 0 ? (uint64_t)-w->blocked : 0;
    const uint64_t part = more < *from ? more : *from;

    *from -= part;
    w->blocked += (int64_t)part;
}

/*
 * Divides the time since the last look. Where records have the waits one by one they are right, and not schedstat: it misses some time that a
 * thread was runnable, between its wake-up and the CPU's hearing of it, and has some that it slept.
 */
static void divide(struct look_thread *t, const struct remote_task_run *run, uint64_t now)
{
    struct look_wait *w = &t->wait;
    uint64_t ran, queued, ahead, twice;

    if (run->cpu_time < w->run.cpu_time || run->waited < w->run.waited) {
        /* By an exec another thread has this number, which has run less. */
        w->cpu += run->cpu_time - w->run.cpu_time;
        w->run = *run;
    }
    ran = run->cpu_time - w->run.cpu_time;
    queued = run->waited - w->run.waited;
    ahead = w->ahead < queued ? w->ahead : queued;
    w->blocked += (int64_t)(now - w->seen - ran - queued);
    w->blocked -= (int64_t)(w->ahead - ahead);
    w->ahead = 0;
    queued -= ahead;
    twice = w->twice < queued ? w->twice : queued;
    w->twice -= twice;
    w->fresh = queued - twice;
    w->runnable += w->fresh;
    /* It was awake already, and waited for a CPU: schedstat says so when it has got one. */
    if (!look_is_exact(t))
        balance(w, &w->brief);
    balance(w, &w->pending);
    w->run = *run;
    w->seen = now;
}

/* By looks alone: blocked time that is of no wait which looks have seen, or will see. */
static void leave_unseen(struct look_wait *w)
{
    if (w->blocked <= 0)
        return;
    w->brief += (uint64_t)w->blocked;
    w->blocked = 0;
}

/*
 * By looks alone. Where this program got no CPU for long, and the thread has run more than once meanwhile, it may have waited
 * anywhere: neither the last place nor the next one has that time.
 */
static void divide_looks(const struct looks *l, struct look_thread *t,
                         const struct remote_task_run *run, uint64_t now)
{
    struct look_wait *w = &t->wait;
    const bool is_late = now > w->seen + l->late && run->turns > w->run.turns + 1;

    divide(t, run, now);
    if (is_late && !look_is_exact(t))
        leave_unseen(w);
}

/*
 * Reads the clock with it, as of one moment: this program may lose the CPU in between.
 *
 * @return false: errno says why not, as for remote_task_has_ended()
 */
static bool read_run(struct remote_task_run *out, uint64_t *now, const struct look_process *p,
                     const struct look_thread *t)
{
    uint64_t before;

    for (unsigned i = 0; i < TRIES; i++) {
        before = now_ns();
        if (!look_run_read(out, p, t))
            return false;
        *now = now_ns();
        if (*now - before < moment_ns)
            break;
    }
    return true;
}

/* --- Waits whose beginning and end are known ---------------------------------------------------------- */

static uint64_t take_of(int64_t *from, uint64_t most)
{
    const uint64_t part = *from <= 0 ? 0 : (uint64_t)*from < most ? (uint64_t)*from : most;

    *from -= (int64_t)part;
    return part;
}

/*
 * Ended waits take their time of what schedstat calls blocked: less than they lasted, for from its wake-up on a thread was
 * runnable. What the present wait has so far stays. What is left then is of no wait with a record, as from the
 * thread's beginning: were it kept, later waits would take it for the time that they were runnable.
 */
static void settle(struct look_wait *w)
{
    const uint64_t present = w->off != 0 && w->seen > w->off ? w->seen - w->off : 0;
    /* Preempted: schedstat does not say yet that it is runnable. */
    const uint64_t queued =
        w->preempted != 0 && w->seen > w->preempted ? w->seen - w->preempted : 0;
    int64_t ended = w->blocked - (int64_t)(present + queued + w->unsure);
    const int64_t before = ended;

    w->pending += take_of(&ended, w->claim);
    w->brief += take_of(&ended, w->claim_short);
    if (present > 0)
        w->brief += take_of(&ended, UINT64_MAX);
    w->blocked -= before - ended;
    w->claim = w->claim_short = 0;
}

/* The present wait up to now. */
static void settle_present(struct look_wait *w)
{
    settle(w);
    if (!is_placed(w) || w->seen <= w->off)
        return;
    w->pending += take_of(&w->blocked, w->seen - w->off);
    w->off = w->seen;
    w->placed_at = w->seen;
}

void look_wait_doubt(struct look_thread *t)
{
    t->wait.doubtful = true;
    t->wait.preempted = 0;
}

static void forget(struct look_wait *w)
{
    w->off = w->preempted = 0;
    w->left.place.stack = 0;
    w->doubtful = false;
}

/* --- Its beginning -------------------------------------------------------------------------------------- */

/* What a thread did from its beginning to its first look: by schedstat, for no look has seen where it was. */
static void count_before(struct look_thread *t, uint64_t ns)
{
    struct look_wait *w = &t->wait;
    uint64_t ran, blocked;

    /* Of a new process it is the process's, and no time of the thread. */
    w->cpu = t->sampled < w->run.cpu_time ? t->sampled : w->run.cpu_time;
    ran = w->run.cpu_time < ns ? w->run.cpu_time : ns;
    w->runnable = w->run.waited < ns - ran ? w->run.waited : ns - ran;
    blocked = ns - ran - w->runnable;
    if (look_is_exact(t)) /* records have the waits of it */
        w->blocked = (int64_t)blocked;
    else
        w->brief = blocked;
}

void look_wait_begin(const struct look_process *p, struct look_thread *t, uint64_t since)
{
    struct look_wait *w = &t->wait;
    struct remote_task_stat stat;
    uint64_t now;

    *w = (struct look_wait){ .call = "" };
    t->unsure.count = 0;
    if (!read_run(&w->run, &now, p, t)) {
        w->dead = remote_task_has_ended(errno);
        w->late = !w->dead; /* it begins with the first look that finds a descriptor */
        w->seen = now_ns();
        return;
    }
    w->cpu = w->run.cpu_time;
    w->seen = now;
    w->begun = w->brief_put = since != 0 && since < now ? since : now;
    if (w->begun < now)
        count_before(t, now - w->begun);
    if (remote_task_stat_read(&stat, p->tasks, t->tid) && stat.state != 'R')
        w->off = now;
}

/* --- A thread that runs, or would ---------------------------------------------------------------------- */

static bool take_running(struct looks *l, struct look_process *p, struct look_thread *t)
{
    struct look_wait *w = &t->wait;
    struct outside_place place = { .stack = 0 };
    const bool on_cpu = look_cpu_find(l, p, t) == LOOK_ON_CPU;
    uint64_t weight;

    w->asleep = false;
    if (on_cpu && !look_is_exact(t) && w->brief >= part_ns && !put_brief(l, p, t))
        return false;
    if (!look_running(l, p, t, on_cpu, &place))
        return false;
    if (place.stack == 0)
        return true;
    weight = w->runnable;
    if (look_has_own(t)) /* the record of that, with its place, comes with the next ones */
        weight -= w->fresh < weight ? w->fresh : weight;
    if (w->unsure > 0) /* some may be of a wait that has ended */
        weight = 0;
    w->runnable -= weight;
    return put(l, p, t,
               (struct sfb_recording_wait){ .stack = place.stack,
                                            .end = place.end,
                                            .time = w->seen,
                                            .weight = weight,
                                            .state = SFB_STATE_RUNNABLE,
                                            .call = "" });
}

/* --- A thread that sleeps ------------------------------------------------------------------------------ */

static uint32_t state_of(char letter, bool in_call)
{
    switch (letter) {
    case 'T':
    case 't': return SFB_STATE_STOPPED;
    case 'D': return in_call ? SFB_STATE_DISK : SFB_STATE_FAULT;
    default: return in_call ? SFB_STATE_ASLEEP : SFB_STATE_FAULT;
    }
}

static const char *name_of(const struct remote_task_call *call)
{
    const char *name = call->in_call ? sfb_remote_call_name(call->number) : NULL;

    return name ? name : "";
}

/*
 * After a signal or a stop the kernel calls a sleep that goes on restart_syscall. If the thread was seen in another call at that very place,
 * it is that one.
 */
static bool goes_on_as(const struct look_wait *w, const struct remote_task_call *call,
                       const struct outside_place *place)
{
    return call->in_call && call->number == SYS_restart_syscall && w->call[0] != '\0' &&
           w->place.stack != 0 && w->place.stack == place->stack;
}

/* Waits at one place are one record if they stand nearly where they were then. */
static bool is_near(const struct look_wait *w, uint64_t begun)
{
    return begun < w->pending_since + w->pending + gap_ns;
}

/* The thread sleeps there from now on. */
static bool go_to(struct looks *l, const struct look_process *p, struct look_thread *t,
                  const struct outside_place *place, uint32_t state, uint32_t awaited)
{
    struct look_wait *w = &t->wait;
    const bool goes_on = goes_on_as(w, &l->look.call, place);
    const char *call = goes_on ? w->call : name_of(&l->look.call);
    /* Of waits for a mutex each has its own holder. */
    const uint64_t begun = look_is_exact(t) ? w->off
                           : w->blocked > 0 ? w->seen - (uint64_t)w->blocked
                                            : w->seen;
    bool same;

    if (goes_on)
        awaited = w->awaited;
    same = !look_has_own(t) && w->place.stack == place->stack && w->state == state &&
           strcmp(w->call, call) == 0 && w->awaited == awaited &&
           (awaited == 0 || l->look.call.number != SYS_futex);

    if (look_is_exact(t))
        settle(w);
    same = same && is_near(w, begun);
    if (!same && !flush(l, p, t))
        return false;
    if (w->pending == 0)
        w->pending_since = begun;
    w->place_until = 0;
    w->place = *place;
    w->state = state;
    w->call = call;
    w->asleep = true;
    if (!same) {
        w->awaited = awaited;
        w->began = begun;
        w->holder = w->holder_stack = 0;
    }
    if (look_is_exact(t))
        return true;
    if (w->blocked > 0) {
        w->pending += (uint64_t)w->blocked;
        w->blocked = 0;
    }
    return put_brief(l, p, t);
}

static bool take_place(struct looks *l, struct look_process *p, struct look_thread *t,
                       const struct outside_place *place, uint32_t state, uint32_t awaited,
                       uint64_t seen)
{
    if (!go_to(l, p, t, place, state, awaited))
        return false;
    t->wait.placed_at = seen;
    return awaited == 0 || l->look.call.number != SYS_futex || look_holder_due(l, p, t->tid, seen);
}

/*
 * Whether a sample has the stack of the present wait. /proc has its call and what it waits for: they count if pc and sp are the
 * sample's.
 */
static bool is_where_left(struct looks *l, struct look_process *p, const struct look_thread *t)
{
    const struct look_left *left = &t->wait.left;
    struct remote_task_call *call = &l->look.call;
    struct remote_task_files files;

    /* A look copies more of a stack. */
    if (!look_has_left(&t->wait) || left->place.end == SFB_STACK_CUT || p->python.fits ||
        !remote_task_files_open(&files, p->tasks, t->tid))
        return false;
    l->look.tid = t->tid;
    l->look.python.count = 0;
    l->look.python.gil_at = 0;
    l->look.python.gil = SFB_GIL_UNKNOWN;
    remote_task_call_read(call, &files);
    remote_task_files_close(&files);
    return call->where == REMOTE_TASK_SLEEPS && call->pc == left->pc && call->sp == left->sp;
}

static bool take_asleep(struct looks *l, struct look_process *p, struct look_thread *t, char letter)
{
    enum remote_look_end end;
    struct look_wait *w = &t->wait;
    struct outside_place place = { .end = SFB_UNREADABLE };
    const struct remote_task_call *call = &l->look.call;
    uint64_t seen = now_ns(); /* a moment of the wait that is found */
    uint32_t awaited = 0;
    bool changed = false;

    w->asleep = false;
    remote_python_retry(&p->python);
    if (is_where_left(l, p, t)) {
        place = w->left.place;
        if (!look_awaited_find(l, p, t->tid, &awaited))
            return false;
        return take_place(l, p, t, &place, state_of(letter, call->in_call), awaited, seen);
    }
    end = remote_look_asleep(&l->look, &p->memory, p->tasks, t->tid, COPY);
    if (end == REMOTE_LOOK_RUNS || end == REMOTE_LOOK_GONE) /* the next look finds it */
        return true;
    if (end == REMOTE_LOOK_DONE) {
        const struct sfb_copied_stack stack = look_copied(l, COPY);
        const struct remote_task_run run = l->look.run;

        seen = l->look.at;
        if (run.turns != 0)
            divide_looks(l, t, &run, seen);
        if (!outside_find_place(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, seen, &stack,
                                look_python(l), &place) ||
            !look_awaited_find(l, p, t->tid, &awaited))
            return false;
        if (place.end == SFB_NO_MODULE && !look_maps_anew(l, p, &changed))
            return false;
        if (changed) /* mapped since: the next look finds where it sleeps */
            return true;
    }
    return take_place(l, p, t, &place, state_of(letter, call->in_call), awaited, seen);
}

static bool has_not_run(const struct look_wait *w, const struct remote_task_run *run)
{
    return w->asleep && run->turns == w->run.turns && run->cpu_time == w->run.cpu_time;
}

/* @return whether there is nothing to look at */
static bool goes_on_exactly(struct looks *l, const struct look_process *p, struct look_thread *t,
                            const struct remote_task_run *run, uint64_t now, bool *good)
{
    struct look_wait *w = &t->wait;
    const bool has_run = run->turns != w->run.turns || run->cpu_time != w->run.cpu_time;
    const uint64_t before = w->seen;

    divide(t, run, now);
    *good = look_ended_settle(l, p, t, false);
    if (!*good)
        return true;
    if ((w->doubtful && has_run) || (w->overdue != 0 && w->overdue == w->off))
        forget(w);
    w->doubtful = false;
    w->overdue = 0;
    /* It has run, and may wait elsewhere: the record of the end of its wait comes with the next ones, or is lost. */
    if (is_placed(w) && has_run) {
        w->overdue = w->off;
        *good = true;
        return true;
    }
    if (is_placed(w)) {
        settle_present(w);
        *good = flush(l, p, t);
        return true;
    }
    settle(w);
    if (w->seen - w->brief_put >= brief_ns)
        *good = put_brief(l, p, t);
    w->still = has_run ? 0 : before;
    return false;
}

/* It has slept at its place up to now. */
static void rest(struct look_wait *w, uint64_t now)
{
    w->pending += now - w->seen;
    w->seen = now;
    balance(w, &w->pending);
}

/* Else it was woken up, and waits for a CPU: schedstat says later how much of its time was no sleep. */
static bool is_still_asleep(const struct look_process *p, const struct look_thread *t)
{
    struct remote_task_stat stat;

    return remote_task_stat_read(&stat, p->tasks, t->tid) && stat.state != 'R';
}

/* Every second round of a thread that has not run for long. */
static bool is_skipped(struct look_wait *w)
{
    w->skipped = w->rests == RESTING && !w->skipped;
    return w->skipped;
}

bool look_wait_goes_on(struct looks *l, struct look_process *p, struct look_thread *t, bool *good)
{
    struct look_wait *w = &t->wait;
    struct remote_task_run run;
    uint64_t now;

    *good = true;
    if (look_is_exact(t) && !w->doubtful && is_placed(w) && l->drained < w->off + part_ns)
        return true; /* it costs nothing */
    if (!look_is_exact(t) && is_skipped(w))
        return true;
    if (!read_run(&run, &now, p, t)) {
        p->turned |= remote_task_has_ended(errno) && t->seen;
        return true;
    }
    if (w->dead || w->late) { /* an exec of another thread may revive its number */
        w->cpu += run.cpu_time - w->run.cpu_time;
        w->run = run;
        w->seen = w->begun = now;
        l->unread += w->late;
        w->late = false;
        return false;
    }
    t->turns = run.turns;
    if (look_is_exact(t))
        return goes_on_exactly(l, p, t, &run, now, good);
    if (!has_not_run(w, &run)) {
        w->rests = 0;
        divide_looks(l, t, &run, now);
        return false;
    }
    w->rests += w->rests < RESTING;
    rest(w, now);
    if (w->pending >= part_ns && is_still_asleep(p, t))
        *good = flush(l, p, t);
    return true;
}

/*
 * The thread has run since it was seen asleep. If it runs now, it was blocked at that place since then; if it is asleep again,
 * at some moment in between it went from the one place to the other. If looks have found it running alone, the place that is
 * seen next has what it was blocked, up to a bound: else the last one has all the waits that were missed.
 */
static void place_blocked(const struct looks *l, struct look_wait *w, bool runs)
{
    const int64_t part = runs ? w->blocked : w->blocked / 2;

    if (runs && !w->asleep && w->blocked > (int64_t)l->late)
        leave_unseen(w);
    if (w->asleep)
        w->place_until = w->seen;
    if (!w->asleep || part <= 0)
        return;
    w->pending += (uint64_t)part;
    w->blocked -= part;
}

/* A zombie neither runs nor waits: what schedstat calls blocked since its end is no time of it. */
static void forget_end(struct look_thread *t)
{
    struct look_wait *w = &t->wait;

    if (look_is_exact(t))
        settle(w);
    w->blocked = 0;
    w->off = 0;
    w->asleep = false;
}

bool look_wait_take(struct looks *l, struct look_process *p, struct look_thread *t, char letter)
{
    struct look_wait *w = &t->wait;

    if (letter == LOOK_UNREAD) /* what it did is divided up to now: the next look says where */
        return true;
    w->dead = letter == 'Z' || letter == 'X';
    if (w->dead) {
        forget_end(t);
        return look_wait_put(l, p, t);
    }
    if (!look_is_exact(t))
        place_blocked(l, w, letter == 'R');

    /* It sleeps, and has for a round: the record of that is lost. */
    if (w->off == 0 && w->still != 0 && letter != 'R')
        w->off = w->still;
    switch (letter) {
    case 0: return true;
    case 'R': return take_running(l, p, t);
    default: return take_asleep(l, p, t, letter);
    }
}

bool look_wait_change(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    struct look_wait *w = &t->wait;
    uint64_t brief;

    if (!look_ended_settle(l, p, t, true))
        return false;
    settle(w);
    brief = w->brief;
    forget(w);
    w->asleep = false;
    w->still = 0;
    w->brief = 0;
    return flush(l, p, t) && put_rest(l, p, t, SFB_STATE_UNKNOWN, brief);
}

/* --- Its end ------------------------------------------------------------------------------------------- */

/* Its schedstat is gone: waits that have ended since it was read have all of the time that they lasted. */
static void end_gone(struct look_wait *w)
{
    const int64_t ended = (int64_t)(w->claim + w->claim_short + w->unsure);

    w->off = 0;
    if (w->woke > w->seen)
        w->seen = w->woke;
    w->blocked = w->blocked > ended ? w->blocked : ended;
    settle(w);
}

void look_wait_close(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    struct look_wait *w = &t->wait;
    struct remote_task_run run;
    uint64_t now;

    if (w->dead || w->late || t->unread)
        return;
    if (!read_run(&run, &now, p, t)) {
        w->late = !remote_task_has_ended(errno);
        end_gone(w);
        return;
    }
    if (look_is_exact(t)) {
        divide(t, &run, now);
        look_ended_settle(l, p, t,
                          false); /* what cannot be written fails the recording at its end */
        settle_present(w);
    } else if (has_not_run(w, &run)) {
        rest(w, now);
    } else {
        divide(t, &run, now);
    }
}

bool look_wait_put(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    struct look_wait *w = &t->wait;

    w->asleep = false;
    if (!look_ended_settle(l, p, t, true) || !flush(l, p, t) ||
        !put_rest(l, p, t, SFB_STATE_UNKNOWN,
                  w->brief + (w->blocked > 0 ? (uint64_t)w->blocked : 0)) ||
        !put_rest(l, p, t, SFB_STATE_RUNNABLE, w->runnable))
        return false;
    w->blocked = 0;
    w->brief = w->runnable = 0;
    return true;
}

bool look_wait_end(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    const struct look_wait *w = &t->wait;

    if (!l->ends && !l->paused)
        look_wait_close(l, p, t);
    l->unread += w->late || t->unread;
    if (!look_wait_put(l, p, t))
        return false;
    return outside_end_thread(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, w->seen,
                              w->run.cpu_time - w->cpu,
                              w->run.cpu_time > t->sampled ? w->run.cpu_time - t->sampled : 0);
}
