#include "profiler/collector/outside/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/looks.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/perf_rings.h"
#include "profiler/collector/processes/program.h"
#include "profiler/collector/processes/tasks.h"
#include "util/index.h"

enum {
    WAIT_MS = 10,
    TASKS_MOST = 32768,
    ROUNDS =
        8,     /* until no new thread is found; events are inherited, so two are enough as a rule */
    SOON = 10, /* stacks that are cut: enough to judge */
    RATE_LEAST = 49
};

static const uint64_t second_ns = 1000000000;

/* What a tenth of a second had. */
struct span {
    uint64_t begun, samples, cut, lost;
};

struct attach {
    struct attach_options how;
    struct attach_state state;
    struct perf_rings rings;
    struct outside *outside;
    struct looks *looks; /* in place of events; NULL: events, or not begun */
    uint64_t random;
    struct report_index watched; /* threads, by the generation of events */
    uint32_t watched_count, generation;
    struct report_index known; /* processes that were introduced */
    uint32_t known_count;
    struct report_index streams;   /* events, by the number that samples name */
    REPORT_ARRAY(uint64_t) counts; /* of them, when they were read last */
    struct span span;
    uint64_t calm;   /* when a stack was cut, or the size of copies changed */
    uint64_t listed; /* when processes were looked for */
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

/*
 * @param again  also threads that had events
 * @return how many threads have new events now
 */
static size_t watch_process(struct attach *a, pid_t pid, bool again)
{
    pid_t *tids = calloc(TASKS_MOST, sizeof *tids);
    const size_t count = tids ? sfb_recorder_tasks_of(pid, tids, TASKS_MOST) : 0;
    size_t added = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        bool known;

        if (!report_index_find(&a->watched, (uint32_t)tids[i], a->generation, a->watched_count,
                               &number, &known) ||
            (known && !again))
            continue;
        a->watched_count += !known;
        added += perf_rings_watch(&a->rings, tids[i]);
    }
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

static void introduce_all(struct attach *a)
{
    struct attach_pids pids = { .pids.count = 0 };
    const uint64_t now = now_ns();

    if (list(a, &pids))
        for (size_t i = 0; i < pids.pids.count; i++) {
            uint32_t number;
            bool known;

            if (!report_index_find(&a->known, (uint32_t)pids.pids.at[i], 0, a->known_count, &number,
                                   &known) ||
                known)
                continue;
            a->known_count++;
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
    if (a->rings.events.count == 0)
        return "perf_event_open";
    a->state.engine = a->rings.attr.exclude_kernel ? SFB_ENGINE_OUTSIDE_USER : SFB_ENGINE_OUTSIDE;
    a->state.rate_hz = a->how.rate_hz;
    a->state.stack = a->rings.attr.sample_stack_user;
    return NULL;
}

struct attach *attach_open(const struct attach_options *options, char *why, size_t room)
{
    struct attach *a = calloc(1, sizeof *a);
    const char *what;

    if (!a) {
        snprintf(why, room, "%s", strerror(ENOMEM));
        return NULL;
    }
    why[0] = '\0';
    a->how = *options;
    what = options->looks ? NULL : open_events(a);
    if (what)
        snprintf(why, room, "%s: %s", what, strerror(errno));
    if (!what && !options->looks)
        return a;
    perf_rings_close(&a->rings);
    a->rings = (struct perf_rings){ .limit = 0 };
    if (options->pid == 0 || looks_may(options->pid)) {
        a->state = (struct attach_state){ .engine = SFB_ENGINE_LOOKS, .rate_hz = LOOKS_HZ };
        return a;
    }
    attach_close(a);
    return NULL;
}

struct attach_state attach_state(const struct attach *a)
{
    struct attach_state state = a->state;

    state.stops = a->looks ? looks_stops(a->looks) : 0;
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

/* What there is to look at: all but this program itself. */
static bool choose_looks(struct attach *a, uint64_t now)
{
    struct attach_pids pids = { .pids.count = 0 };
    size_t kept = 0;
    bool good = list(a, &pids);

    for (size_t i = 0; i < pids.pids.count; i++)
        if (pids.pids.at[i] != getpid())
            pids.pids.at[kept++] = pids.pids.at[i];
    good = good && looks_set(a->looks, pids.pids.at, kept, now);
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
                                         .cpu = cpu,
                                         .user = a };

    a->outside = outside_open(&how);
    if (!a->outside)
        return false;
    a->span.begun = a->calm = a->listed = now_ns();
    if (a->state.engine == SFB_ENGINE_LOOKS) {
        a->looks = looks_open(a->outside);
        a->random = a->listed | 1;
        return a->looks && choose_looks(a, a->listed);
    }
    perf_rings_enable(&a->rings);
    introduce_all(a);
    return true;
}

/* --- Samples -------------------------------------------------------------------------------------------- */

/*
 * By how much the event's own count has grown: CPU time since its last sample. Where kernel time is not sampled it counts all
 * the same, and is no time of the function that was found later: then it stands for one period.
 */
static uint64_t weight_of(struct attach *a, const struct perf_sample *s)
{
    uint64_t grown, *last;
    uint32_t at;
    bool known;

    if (!a->rings.counts || is_machine(a) ||
        !report_index_find(&a->streams, s->ids.stream, 0, (uint32_t)a->counts.count, &at, &known) ||
        (!known && !REPORT_NEXT(a->counts)) || at >= a->counts.count)
        return a->period;
    last = &a->counts.at[at];
    grown = s->count > *last ? s->count - *last : 0;
    *last = s->count;
    return grown > 2 * a->period && a->state.engine == SFB_ENGINE_OUTSIDE_USER ? a->period : grown;
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
    return outside_take_sample(a->outside, &a->rings.layout, &sample, weight_of(a, &sample));
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
}

static uint32_t doubled(uint32_t stack)
{
    return stack >= PERF_STACK_MOST / 2 ? PERF_STACK_MOST & ~7U : 2 * stack;
}

/* The next smaller one of 8, 16, 32 and 64 KiB. */
static uint32_t halved(uint32_t stack)
{
    uint32_t size = PERF_STACK_LEAST;

    while (2 * size < stack)
        size *= 2;
    return size;
}

/*
 * What the kernel dropped halves the rate; one stack of twenty that is longer than its copy doubles that; a minute without
 * any halves it.
 */
static void judge(struct attach *a, uint64_t now)
{
    const struct outside_totals *t = outside_totals(a->outside);
    const struct span past = { now, t->samples, t->cut, t->lost };
    const uint64_t samples = past.samples - a->span.samples, cut = past.cut - a->span.cut;

    if (now - a->span.begun < second_ns / 10 && cut < SOON)
        return;
    if (cut > 0)
        a->calm = now;
    if (past.lost > a->span.lost && second_ns / a->period > 2 * RATE_LEAST) {
        a->state.slowed++;
        change(a, a->state.stack, 2 * a->period);
    } else if (cut * 20 > samples && a->state.stack < (PERF_STACK_MOST & ~7U)) {
        change(a, doubled(a->state.stack), a->period);
    } else if (now - a->calm >= 60 * second_ns && a->state.stack > PERF_STACK_LEAST) {
        a->calm = now;
        change(a, halved(a->state.stack), a->period);
    }
    a->span = past;
}

/* Processes of this user that others have started. */
static void look_for_others(struct attach *a, uint64_t now)
{
    if (a->how.pid != 0 || is_machine(a) || now - a->listed < second_ns)
        return;
    watch_all(a);
    perf_rings_enable(&a->rings);
    introduce_all(a);
    a->listed = now;
}

/* Between half of the mean and one and a half: xorshift64. */
static int random_wait(struct attach *a)
{
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    a->random ^= a->random << 17;
    return (int)(WAIT_MS / 2 + a->random % (WAIT_MS + 1));
}

static bool take_looks(struct attach *a)
{
    uint64_t now;

    poll(NULL, 0, random_wait(a));
    now = now_ns();
    if (now - a->listed > second_ns) {
        a->listed = now;
        if (!choose_looks(a, now))
            return false;
    }
    return looks_take(a->looks);
}

bool attach_take(struct attach *a)
{
    uint64_t now;

    if (a->looks)
        return take_looks(a);

    perf_rings_wait(&a->rings, WAIT_MS);
    now = now_ns();
    if (!perf_rings_take(&a->rings, now, take, a))
        return false;
    judge(a, now);
    look_for_others(a, now);
    return true;
}

bool attach_has_ended(const struct attach *a)
{
    return a->how.pid != 0 && sfb_recorder_task_has_ended(a->how.pid);
}

const struct outside_totals *attach_totals(const struct attach *a)
{
    return outside_totals(a->outside);
}

/* --- Its end -------------------------------------------------------------------------------------------- */

bool attach_end(struct attach *a, struct outside_totals *totals)
{
    bool good = a->looks || perf_rings_take(&a->rings, UINT64_MAX, take, a);

    good = outside_end(a->outside, now_ns()) && good;
    *totals = *outside_totals(a->outside);
    outside_close(a->outside);
    a->outside = NULL;
    return good;
}

void attach_close(struct attach *a)
{
    looks_close(a->looks);
    perf_rings_close(&a->rings);
    report_index_free(&a->watched);
    report_index_free(&a->known);
    report_index_free(&a->streams);
    free(a->counts.at);
    free(a);
}
