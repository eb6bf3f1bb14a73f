#include "profiler/collector/outside/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/arrivals.h"
#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/copy_depth.h"
#include "profiler/collector/outside/look_switches.h"
#include "profiler/collector/outside/looks.h"
#include "profiler/collector/outside/outside_pause.h"
#include "profiler/collector/outside/outside_python.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/perf_rings.h"
#include "profiler/collector/outside/perf_weight.h"
#include "profiler/collector/processes/program.h"
#include "profiler/collector/processes/tasks.h"
#include "remote/task_files.h"
#include "util/index.h"

enum {
    WAIT_LEAST_MS = 10,
    WAIT_MOST_MS = 50, /* what has ended by then has left no more than its records */
    TASKS_MOST = 32768,
    ROUNDS =
        8, /* until no new thread is found; events are inherited, so two are enough as a rule */
    RATE_LEAST = 49
};

static const uint64_t second_ns = 1000000000;

struct attach {
    struct attach_options how;
    struct attach_state state;
    struct perf_rings rings;
    struct wait_events waits;
    struct outside *outside;
    char python[SFB_REMOTE_NAME];
    struct looks *looks;      /* in place of events; NULL: events, or not begun */
    struct arrivals arrivals; /* of processes to be looked at */
    uint64_t random;
    struct report_index watched; /* threads, by start and generation of events */
    uint32_t watched_count, generation;
    bool entered;              /* a thread of the process that was asked for has events */
    int cause;                 /* errno, if not */
    struct report_index known; /* processes that were looked for, by start */
    uint32_t known_count;
    struct perf_weights weights;
    struct copy_depth depth;
    uint64_t judged,
        judged_lost;      /* when size and rate were judged last, and what was lost by then */
    uint64_t listed;      /* when processes were looked for */
    bool missed;          /* processes have come, and are not known one by one */
    uint64_t pause;       /* until the next time, in ns */
    uint64_t pause_least; /* the same, where processes are known to have come */
    uint64_t pause_blind; /* the same, where nothing says that processes have come */
    int pidfd;            /* of the process that was asked for; -1: none */
    uint64_t period;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* --- Which threads -------------------------------------------------------------------------------------- */

static bool is_machine(const struct attach *a)
{
    return a->how.pid == 0 && a->rings.attr.config == PERF_COUNT_SW_CPU_CLOCK;
}

/* A number comes again, but not at the same time. @return whether it is new; false also if that cannot be read now */
static bool is_new(struct report_index *index, uint32_t *count, pid_t tid, uint32_t generation)
{
    const uint64_t started = sfb_recorder_task_started(tid),
                   when = (uint64_t)generation << 48 ^ started;
    uint32_t at;
    bool known;

    if (started == 0 && !remote_task_has_ended(errno))
        return false;
    if (!report_index_find(index, (uint32_t)tid, when, *count, &at, &known) || known)
        return false;
    ++*count;
    return true;
}

static bool watch(struct attach *a, pid_t tid)
{
    return a->waits.rung > WAIT_LOOKS ? wait_events_watch(&a->waits, tid)
                                      : perf_rings_watch(&a->rings, tid);
}

/* Its threads cannot be listed: it has one at least. */
static void refuse(struct attach *a, pid_t pid)
{
    a->cause = pid == a->how.pid ? errno : a->cause;
    if (a->waits.rung > WAIT_LOOKS)
        a->waits.refused++;
    else
        a->rings.refused++;
}

/*
 * @param again  also threads that had events
 * @return how many threads have new events now
 */
static size_t watch_process(struct attach *a, pid_t pid, bool again)
{
    pid_t *tids = calloc(TASKS_MOST, sizeof *tids);
    const size_t count = tids ? sfb_recorder_tasks_of(pid, tids, TASKS_MOST) : 0;
    size_t added = 0;

    if (count == 0 && errno != 0)
        refuse(a, pid);
    for (size_t i = 0; i < count; i++) {
        if (!is_new(&a->watched, &a->watched_count, tids[i], a->generation) && !again)
            continue;
        if (watch(a, tids[i]))
            added++;
        else if (pid == a->how.pid && errno != ESRCH)
            a->cause = errno;
    }
    a->entered |= pid == a->how.pid && added > 0;
    free(tids);
    return added;
}

static bool list(const struct attach *a, struct attach_pids *out)
{
    return a->how.pid == 0 ? attach_list_user(out, geteuid() == 0 ? (uid_t)-1 : geteuid())
                           : attach_list_tree(out, a->how.pid, !a->how.no_children);
}

/* Until a round finds no thread that is new: what those start inherits their events. */
static void watch_all(struct attach *a)
{
    size_t added = 1;

    if (is_machine(a)) {
        perf_rings_watch(&a->rings, -1);
        return;
    }
    for (unsigned round = 0; added > 0 && round < ROUNDS; round++) {
        struct attach_pids pids = { .pids.count = 0 };

        added = 0;
        if (list(a, &pids))
            for (size_t i = 0; i < pids.pids.count; i++)
                if (pids.pids.at[i] != getpid() || a->how.pid == getpid())
                    added += watch_process(a, pids.pids.at[i], false);
        free(pids.pids.at);
    }
    a->state.refused = a->rings.refused;
    a->state.events = a->rings.events.count;
}

/* The rings are emptied meanwhile. */
static void introduce_all(struct attach *a)
{
    struct attach_pids pids = { .pids.count = 0 };
    const uint64_t now = now_ns();

    if (list(a, &pids))
        for (size_t i = 0; i < pids.pids.count; i++) {
            if (!is_new(&a->known, &a->known_count, pids.pids.at[i], 0))
                continue;
            attach_introduce(a->outside, pids.pids.at[i], now);
            if (a->how.pid != 0 && !a->python[0])
                outside_python_find(a->python, sizeof a->python, attach_live_task(pids.pids.at[i]));
            perf_rings_empty(&a->rings);
        }
    free(pids.pids.at);
}

/*
 * While events were reopened the kernel has reported neither processes nor files. Where a record of before is still in the
 * rings it is older than what /proc says now.
 */
static void introduce_missed(struct attach *a)
{
    struct attach_pids pids = { .pids.count = 0 };
    const uint64_t now = now_ns();

    if (list(a, &pids))
        for (size_t i = 0; i < pids.pids.count; i++) {
            if (outside_knows(a->outside, (uint32_t)pids.pids.at[i]))
                attach_introduce_files(a->outside, pids.pids.at[i]);
            else
                attach_introduce(a->outside, pids.pids.at[i], now);
            perf_rings_empty(&a->rings);
        }
    free(pids.pids.at);
}

/* --- Its beginning -------------------------------------------------------------------------------------- */

/* @return NULL, or the call that failed: errno says why */
static const char *open_events(struct attach *a)
{
    const struct perf_rings_options how = { .rate_hz = a->how.rate_hz,
                                            .all = a->how.pid == 0 && geteuid() == 0,
                                            .user_only = a->how.user_only,
                                            .no_children = a->how.no_children };
    const char *what = perf_rings_open(&a->rings, &how);

    if (what)
        return what;
    a->period = a->rings.attr.sample_period;
    watch_all(a);
    /* Events of its children alone are not what was asked for: they may be this user's, where it is another's. */
    if (a->how.pid != 0 && !a->entered)
        errno = a->cause != 0 ? a->cause : ESRCH;
    if (a->rings.events.count == 0 || (a->how.pid != 0 && !a->entered))
        return "perf_event_open";
    a->state.engine = a->rings.attr.exclude_kernel ? SFB_ENGINE_OUTSIDE_USER : SFB_ENGINE_OUTSIDE;
    a->state.rate_hz = a->how.rate_hz;
    a->state.stack = a->rings.attr.sample_stack_user;
    return NULL;
}

static void close_rings(struct attach *a)
{
    perf_rings_close(&a->rings);
    a->rings = (struct perf_rings){ .limit = 0 };
}

/* When threads wait: where that is not allowed looks alone say it. @param why  written if it is refused for this process */
static void open_waits(struct attach *a, char *why, size_t room)
{
    struct rlimit files;

    if (a->how.pid == 0 || a->how.no_switches || !wait_events_open(&a->waits, a->how.no_children))
        return;
    /* Few descriptors are for looks: a process without one is not looked at. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        const size_t share = (size_t)files.rlim_cur / (files.rlim_cur < 4096 ? 16 : 4);

        if (share < a->waits.rings.limit)
            a->waits.rings.limit = share;
    }
    watch_all(a);
    if (a->waits.inherited.count > 0) {
        /* Not for all of them, for want of descriptors: looks find out which threads need them least. */
        a->waits.own = a->waits.refused > 0;
        a->state.switches = true;
        a->state.stacks = a->waits.rung == WAIT_STACKS;
        a->state.wakers = a->state.stacks && a->waits.waking.number != 0;
        if (a->waits.own)
            wait_events_disinherit(&a->waits);
        a->state.refused = a->state.events = 0;
        return;
    }
    if (!why[0])
        snprintf(why, room, "switch records are refused: %s", strerror(a->cause));
    wait_events_close(&a->waits);
    a->state.refused = a->state.events = 0;
}

struct attach *attach_open(const struct attach_options *options, char *why, size_t room)
{
    struct attach *a = calloc(1, sizeof *a);
    struct sfb_remote_fault fault;
    char cause[100] = "";
    const char *what;
    int error = 0;

    if (!a) {
        snprintf(why, room, "%s", strerror(ENOMEM));
        return NULL;
    }
    why[0] = '\0';
    a->how = *options;
    a->pause = second_ns;
    a->arrivals.file = -1;
    a->pidfd = options->pid != 0 ? (int)syscall(SYS_pidfd_open, options->pid, 0) : -1;
    what = options->looks || options->wall_hz > 0 ? NULL : open_events(a);
    if (what) {
        error = errno;
        snprintf(cause, sizeof cause, "%s: %s", what, strerror(error));
    }
    snprintf(why, room, "%s", cause);
    if (!what && !options->looks && options->wall_hz == 0)
        return a;
    close_rings(a);
    if (options->pid == 0 || looks_may(options->pid, &fault)) {
        a->state =
            (struct attach_state){ .engine = SFB_ENGINE_LOOKS,
                                   .rate_hz = options->wall_hz > 0 ? options->wall_hz : LOOKS_HZ };
        if (options->wall_hz > 0)
            open_waits(a, why, room);
        return a;
    }
    snprintf(why, room, "process %d: %s%s%s%s", (int)options->pid, fault.why, what ? " (" : "",
             cause, what ? ")" : "");
    attach_close(a);
    errno = error;
    return NULL;
}

struct attach_state attach_state(const struct attach *a)
{
    struct attach_state state = a->state;

    state.stops = a->looks ? looks_stops(a->looks) : 0;
    state.rounds = a->looks ? looks_rounds(a->looks) : 0;
    state.skipped = a->looks ? looks_skipped(a->looks) : 0;
    state.unread = a->looks ? looks_unread(a->looks) : 0;
    state.by_looks = a->looks ? looks_by_looks(a->looks) : 0;
    state.unseen = arrivals_unseen(&a->arrivals);
    state.no_events = a->looks ? looks_no_events(a->looks) : 0;
    state.python = a->python;
    return state;
}

static size_t arguments(void *user, uint32_t pid, char *out, size_t room)
{
    (void)user;
    return sfb_recorder_task_arguments((pid_t)pid, out, room);
}

static uint64_t cpu(void *user, uint32_t pid)
{
    uint64_t ns;

    (void)user;
    return sfb_recorder_process_cpu((pid_t)pid, &ns) ? ns : 0;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

static uint64_t clamp(uint64_t ns, uint64_t least)
{
    return ns < least ? least : ns < 3 * second_ns ? ns : 3 * second_ns;
}

/*
 * What there is to look at: all but this program itself. Of 1,000 threads each may have children, and they are read one by one: then
 * that is done less often.
 */
static bool choose_looks(struct attach *a, uint64_t now)
{
    /* A quarter of a percent of a CPU. With new processes, which may live shortly: 5 percent; if there may be some: 1 percent. */
    enum { COSTS = 400, NEW_COSTS = 20, BLIND_COSTS = 100 };
    const uint64_t before = own_cpu_ns();
    struct attach_pids pids = { .pids.count = 0 };
    size_t kept = 0;
    bool good = list(a, &pids);

    /* Of the list alone: a new process is introduced once, at the cost of several lists. */
    a->pause = clamp((own_cpu_ns() - before) * COSTS, second_ns);
    a->pause_blind = clamp((own_cpu_ns() - before) * BLIND_COSTS, second_ns / 20);
    for (size_t i = 0; i < pids.pids.count; i++)
        if (pids.pids.at[i] != getpid())
            pids.pids.at[kept++] = pids.pids.at[i];
    good = good && looks_set(a->looks, pids.pids.at, kept, !pids.partial, now);
    a->pause_least = clamp((own_cpu_ns() - before) * NEW_COSTS, second_ns / 20);
    free(pids.pids.at);
    return good;
}

bool attach_begin(struct attach *a, struct sfb_recording_writer *writer)
{
    const struct outside_options how = { .writer = writer,
                                         .engine = a->state.engine,
                                         .kernel = a->state.engine == SFB_ENGINE_OUTSIDE,
                                         .describe = attach_describe,
                                         .arguments = arguments,
                                         .owner = attach_owner,
                                         .cpu = cpu,
                                         .user = a };

    a->outside = outside_open(&how);
    if (!a->outside)
        return false;
    a->judged = a->listed = now_ns();
    if (a->state.engine == SFB_ENGINE_LOOKS) {
        a->looks = looks_open(a->outside, a->how.wall_hz > 0, a->state.rate_hz,
                              a->state.switches ? &a->waits : NULL);
        if (a->state.switches)
            wait_events_enable(&a->waits);
        a->random = a->listed | 1;
        a->listed = a->how.starts ? 0 : a->listed;
        if (!a->how.no_children)
            arrivals_open(&a->arrivals);
        if (a->looks && a->how.starts)
            looks_starts(a->looks, a->how.pid);
        return a->looks && (a->how.starts || choose_looks(a, a->listed));
    }
    perf_rings_enable(&a->rings);
    introduce_all(a);
    return true;
}

/* --- Samples -------------------------------------------------------------------------------------------- */

static uint64_t weight_of(struct attach *a, const struct perf_sample *s)
{
    return !a->rings.counts || is_machine(a)
               ? a->period
               : perf_weight_of(&a->weights, s, a->period, a->state.engine == SFB_ENGINE_OUTSIDE);
}

/*
 * An exec that gives a program other rights ends its events: fs/exec.c, begin_new_exec(). Root may open others; what came
 * between is not seen.
 */
static void look_at_exec(struct attach *a, const struct perf_record *record)
{
    static struct sfb_recorder_program program;
    struct perf_comm comm;
    char path[32];

    if (is_machine(a) || !perf_comm_read(&comm, record) || !comm.exec)
        return;
    snprintf(path, sizeof path, "/proc/%u/exe", comm.pid);
    errno = 0;
    sfb_recorder_program_look(&program, path);
    if (!program.raised && !(program.kind == SFB_PROGRAM_UNREADABLE && errno == EACCES))
        return;
    if (geteuid() != 0 || watch_process(a, (pid_t)comm.pid, true) == 0) {
        a->state.raised++;
        return;
    }
    perf_rings_enable(&a->rings);
    attach_introduce(a->outside, (pid_t)comm.pid, now_ns());
}

static bool take(void *user, const struct perf_record *record, const struct perf_ids *ids)
{
    struct attach *a = user;
    struct perf_sample sample;
    uint64_t cut;

    if (record->type != PERF_RECORD_SAMPLE) {
        const bool good = outside_take(a->outside, record, ids);

        if (record->type == PERF_RECORD_COMM)
            look_at_exec(a, record);
        return good;
    }
    if (!perf_sample_read(&sample, &a->rings.layout, record)) {
        outside_damaged(a->outside);
        return true;
    }
    if (sample.ids.pid == 0 || sample.ids.pid == (uint32_t)getpid())
        return true;
    cut = outside_totals(a->outside)->cut;
    if (!outside_take_sample(a->outside, &a->rings.layout, &sample, weight_of(a, &sample)))
        return false;
    copy_depth_note(&a->depth, sample.ids.tid, outside_totals(a->outside)->cut > cut,
                    sample.ids.time);
    return true;
}

/* --- The size of copies, and the rate ------------------------------------------------------------------- */

static void change(struct attach *a, uint32_t stack, uint64_t period)
{
    a->generation++;
    a->state.stack = stack;
    a->period = period;
    a->state.rate_hz = (uint32_t)(second_ns / period);
    perf_rings_change(&a->rings, stack, period);
    watch_all(a);
    perf_rings_enable(&a->rings);
    introduce_missed(a);
}

/* What the kernel dropped halves the rate. */
static void judge(struct attach *a, uint64_t now)
{
    const struct outside_totals *t = outside_totals(a->outside);
    const uint32_t wanted =
        copy_depth_wanted(&a->depth, a->state.stack, perf_rings_stack_most(&a->rings), now);
    const uint64_t lost = t->lost - a->judged_lost;

    if (now - a->judged < second_ns / 10 && wanted <= a->state.stack)
        return;
    if (lost > 0 && second_ns / a->period > 2 * RATE_LEAST) {
        a->state.slowed++;
        change(a, a->state.stack, 2 * a->period);
    } else if (wanted != a->state.stack) {
        copy_depth_change(&a->depth, wanted > a->state.stack, now);
        change(a, wanted, a->period);
    }
    a->judged = now;
    a->judged_lost = t->lost;
}

/* Those whose parents are recorded have inherited their events, and records have introduced them. */
static void look_at_other(struct attach *a, pid_t pid, uint64_t now)
{
    if (!is_new(&a->known, &a->known_count, pid, 0) || outside_knows(a->outside, (uint32_t)pid))
        return;
    while (watch_process(a, pid, false) > 0) {
    }
    perf_rings_enable(&a->rings);
    attach_introduce(a->outside, pid, now);
}

/* Processes of this user that others have started. @return false: the recording cannot be written, or no memory */
static bool look_for_others(struct attach *a, uint64_t now)
{
    struct attach_pids pids = { .pids.count = 0 };
    bool good = true;

    if (a->how.pid != 0 || is_machine(a) || now - a->listed < second_ns)
        return true;
    a->listed = now;
    if (list(a, &pids)) {
        /* The records of their forks are older than this list. */
        good = perf_rings_take(&a->rings, now_ns(), take, a);
        for (size_t i = 0; good && i < pids.pids.count; i++)
            if (pids.pids.at[i] != getpid())
                look_at_other(a, pids.pids.at[i], now_ns());
    }
    a->state.refused = a->rings.refused;
    a->state.events = a->rings.events.count;
    free(pids.pids.at);
    return good;
}

/* Waits between half of the mean and one and a half: xorshift64. */
static void wait_at_random(struct attach *a)
{
    const uint64_t mean = second_ns / a->state.rate_hz;
    uint64_t ns;

    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    a->random ^= a->random << 17;
    ns = mean / 2 + a->random % (mean + 1);
    nanosleep(&(struct timespec){ (time_t)(ns / second_ns), (long)(ns % second_ns) }, NULL);
}

static bool take_wait(void *user, const struct perf_record *record, const struct perf_ids *ids)
{
    struct attach *a = user;
    uint64_t lost;

    if (record->type == PERF_RECORD_LOST && perf_lost_read(&lost, record)) {
        a->state.lost += lost;
        looks_lost(a->looks);
    }
    return look_switches_take(a->looks, record, ids);
}

/* @param until  UINT64_MAX: all */
static bool take_waits(struct attach *a, uint64_t now, uint64_t until)
{
    if (!a->state.switches)
        return true;
    if (!perf_rings_take(&a->waits.rings, until, take_wait, a))
        return false;
    looks_drained(a->looks, now);
    return true;
}

/* @return ns from one list of processes to the next one */
static uint64_t list_pause(struct attach *a)
{
    if (a->how.no_children)
        return a->pause;
    if (!arrivals_are_known(&a->arrivals))
        return looks_lack_process(a->looks) ? a->pause_least : a->pause_blind;
    return a->missed ? a->pause_least : a->pause;
}

static bool take_looks(struct attach *a)
{
    uint64_t now;

    wait_at_random(a);
    /* Threads are listed before their first records are taken, and forgotten after their last ones. */
    if (a->listed == 0) {
        a->listed = now_ns();
        if (!choose_looks(a, a->listed))
            return false;
    }
    if (!arrivals_take(&a->arrivals, a->looks, a->how.pid == 0) || !looks_list(a->looks))
        return false;
    now = now_ns();
    if (!take_waits(a, now, now))
        return false;
    a->missed |= arrivals_missed(&a->arrivals);
    if (now - a->listed > list_pause(a)) {
        a->listed = now;
        a->missed = false;
        if (!choose_looks(a, now))
            return false;
    }
    return looks_take(a->looks);
}

/* A period long: a ring that is half full ends it. At 19 Hz, 100 turns a second would cost more than the samples. */
static int wait_ms(const struct attach *a)
{
    const uint32_t ms = a->state.rate_hz > 0 ? 1000 / a->state.rate_hz : WAIT_LEAST_MS;

    return ms < WAIT_LEAST_MS ? WAIT_LEAST_MS : ms < WAIT_MOST_MS ? (int)ms : WAIT_MOST_MS;
}

bool attach_take(struct attach *a)
{
    uint64_t now;

    if (a->looks)
        return take_looks(a);

    perf_rings_wait(&a->rings, wait_ms(a));
    now = now_ns();
    if (!perf_rings_take(&a->rings, now, take, a))
        return false;
    judge(a, now);
    return look_for_others(a, now);
}

bool attach_pause(struct attach *a, bool paused)
{
    const uint64_t now = now_ns();
    bool good;

    if (a->looks)
        good = take_waits(a, now, now) && looks_pause(a->looks, paused);
    else
        good = perf_rings_take(&a->rings, now, take, a);
    return good && outside_pause(a->outside, now_ns(), paused);
}

bool attach_has_ended(const struct attach *a)
{
    struct pollfd end = { .fd = a->pidfd, .events = POLLIN };

    if (a->pidfd >= 0)
        return poll(&end, 1, 0) == 1;
    return a->how.pid != 0 && sfb_recorder_task_has_ended(a->how.pid);
}

bool attach_knows(const struct attach *a, pid_t pid)
{
    return outside_knows(a->outside, (uint32_t)pid);
}

const struct outside_totals *attach_totals(const struct attach *a)
{
    return outside_totals(a->outside);
}

/* --- Its end -------------------------------------------------------------------------------------------- */

bool attach_end(struct attach *a, struct outside_totals *totals)
{
    bool good = a->looks || perf_rings_take(&a->rings, UINT64_MAX, take, a);

    if (a->looks) {
        good = take_waits(a, now_ns(), UINT64_MAX) && good;
        looks_end(a->looks);
    }
    good = outside_end(a->outside, now_ns()) && good;
    *totals = *outside_totals(a->outside);
    outside_close(a->outside);
    a->outside = NULL;
    return good;
}

void attach_close(struct attach *a)
{
    looks_close(a->looks);
    arrivals_close(&a->arrivals);
    wait_events_close(&a->waits);
    perf_rings_close(&a->rings);
    report_index_free(&a->watched);
    report_index_free(&a->known);
    perf_weights_free(&a->weights);
    copy_depth_free(&a->depth);
    if (a->pidfd >= 0)
        close(a->pidfd);
    free(a);
}
