#include "profiler/collector/outside/looks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/look_awaited.h"
#include "profiler/collector/outside/look_cpu.h"
#include "profiler/collector/outside/look_events.h"
#include "profiler/collector/outside/look_holders.h"
#include "profiler/collector/outside/look_processes.h"
#include "profiler/collector/outside/look_threads.h"
#include "profiler/collector/outside/look_waits.h"
#include "remote/access_fault.h"
#include "remote/halt.h"

enum { ASKED_MOST = 16, PASSES = 4, SPARE = 64 };

/* Looks that are so many times as far apart as they should be, and so far at least, are late. */
enum { LATE = 8, LATE_MS = 100 };

static const uint64_t second_ns = 1000000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* As /proc counts when processes have started. */
static uint64_t now_ticks(void)
{
    const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * ticks + (uint64_t)t.tv_nsec * ticks / second_ns;
}

/* @return descriptors that this program has open now, rings and events among them */
static size_t descriptors_used(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Files are opened for a moment as well: some descriptors, or a quarter of few, are left for those. */
static size_t descriptors_left(void)
{
    const size_t used = descriptors_used();
    struct rlimit files;
    size_t most, spare;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    most = (size_t)files.rlim_cur;
    spare = most / 4 < SPARE ? most / 4 : SPARE;
    return most > used + spare ? most - used - spare : 0;
}

struct looks *looks_open(struct outside *outside, bool waits, uint32_t rate_hz,
                         struct wait_events *events)
{
    struct looks *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->events = events;
    l->room = WAIT_SWITCHES;
    l->late = second_ns * LATE / rate_hz;
    if (l->late < LATE_MS * second_ns / 1000)
        l->late = LATE_MS * second_ns / 1000;
    l->judged = now_ns();
    l->outside = outside;
    l->python.read = &l->look.python;
    l->waits = waits;
    l->begun = now_ticks();
    look_cpu_open(l);
    l->limit = descriptors_left();
    if (events)
        l->limit -= events->rings.limit < l->limit ? events->rings.limit : l->limit;
    return l;
}

void looks_starts(struct looks *l, pid_t pid)
{
    l->starts = pid;
    l->starts_at = now_ns();
}

bool looks_may(pid_t pid, struct sfb_remote_fault *fault)
{
    return !remote_access_fault(fault, attach_live_task(pid));
}

uint64_t looks_skipped(const struct looks *l)
{
    return l->skipped;
}

uint64_t looks_unread(const struct looks *l)
{
    return l->unread;
}

bool looks_set(struct looks *l, const pid_t *pids, size_t count, bool whole, uint64_t now)
{
    l->has_unknown = false;
    return look_processes_set(l, pids, count, whole, now);
}

bool looks_add(struct looks *l, pid_t pid, uint64_t since, uint64_t now)
{
    return look_processes_add(l, pid, since, now);
}

bool looks_know(const struct looks *l, pid_t pid)
{
    return look_process_of(l, pid) != NULL;
}

uint64_t looks_reaped(struct looks *l)
{
    return look_processes_reaped(l);
}

size_t looks_forget_ended(struct looks *l, uint64_t now)
{
    return look_processes_forget_ended(l, now);
}

bool looks_are_paused(const struct looks *l)
{
    return l->paused;
}

uint64_t looks_stops(const struct looks *l)
{
    return l->stops;
}

/* --- Looks ---------------------------------------------------------------------------------------------- */

static bool has_run(const struct look_process *p, struct look_thread *t)
{
    const uint64_t before = t->cpu;
    const bool may_run = t->runs;

    look_thread_read(p, t);
    t->runs = false;
    return t->cpu != before || may_run;
}

static bool is_replaced(const struct look_process *p, const struct remote_task_image *image)
{
    return image->code != 0 && memcmp(&p->image, image, sizeof *image) != 0;
}

/*
 * Reads the state of a thread that has run since the last look; finds an exec.
 *
 * @return its letter of proc(5); 0: it has ended; LOOK_UNREAD: it cannot be read now
 */
static char read_state(struct looks *l, struct look_process *p, const struct look_thread *t,
                       uint64_t now)
{
    struct remote_task_stat stat;

    if (!remote_task_stat_read(&stat, p->tasks, t->tid)) {
        const bool ended = remote_task_has_ended(errno);

        p->turned |= ended && t->seen;
        return ended ? 0 : LOOK_UNREAD;
    }
    if (is_replaced(p, &stat.image))
        look_process_replace(l, p, &stat.image, now);
    outside_thread(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, stat.name);
    return stat.state;
}

static bool start_thread(struct looks *l, const struct look_process *p, struct look_thread *t);

/* Looks at the thread if it has run since the last look, and runs now. One that waits for a CPU is not stopped. */
static bool look_at(struct looks *l, struct look_process *p, struct look_thread *t, uint64_t now)
{
    struct outside_place place;
    bool good;

    if (t->unread) {
        if (!start_thread(l, p, t))
            return true;
        l->unread++;
    }
    if (!l->waits)
        return !has_run(p, t) || read_state(l, p, t, now) != 'R' ||
               look_cpu_find(l, p, t) == LOOK_QUEUED || look_running(l, p, t, true, &place);
    return look_wait_goes_on(l, p, t, &good) ? good
                                             : look_wait_take(l, p, t, read_state(l, p, t, now));
}

/* Of many processes that is asked less often. */
static bool asks_for_threads(const struct looks *l)
{
    return l->waits && l->processes.count <= ASKED_MOST;
}

/* Threads have come or gone. */
static bool has_other_threads(const struct looks *l, const struct look_process *p)
{
    size_t count;

    return asks_for_threads(l) && remote_task_count(&count, p->tasks) &&
           count != p->threads.count - p->gone;
}

/*
 * As many threads as before, but others. Threads that the last list lacks are forgotten by now, for their last records were taken. A
 * thread that has ended since then is forgotten in the next round.
 */
static bool list_turned(struct looks *l, uint64_t now)
{
    for (size_t i = 0; asks_for_threads(l) && i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if (p->turned && !look_process_list_threads(l, p, now))
            return false;
    }
    return true;
}

void looks_lost(struct looks *l)
{
    l->lost_at = now_ns();
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++)
            look_wait_doubt(&l->processes.at[i]->threads.at[k]);
}

void looks_drained(struct looks *l, uint64_t time)
{
    l->drained = time;
}

bool looks_lack_process(const struct looks *l)
{
    return l->has_unknown;
}

uint64_t looks_by_looks(const struct looks *l)
{
    return l->by_looks_most;
}

uint64_t looks_no_events(const struct looks *l)
{
    return l->no_events_most;
}

uint64_t looks_rounds(const struct looks *l)
{
    return l->rounds;
}

bool looks_list(struct looks *l)
{
    const uint64_t now = now_ns(), listed_ns = l->waits && l->processes.count > ASKED_MOST
                                                   ? second_ns / 10
                                                   : second_ns;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if ((now - p->listed > (l->paused ? second_ns : listed_ns) ||
             (!l->paused && has_other_threads(l, p))) &&
            !look_process_list(l, p, now))
            return false;
    }
    return true;
}

bool looks_take(struct looks *l)
{
    const uint64_t now = now_ns();
    bool good;

    for (size_t i = 0; i < l->processes.count; i++)
        look_threads_forget(l, l->processes.at[i]);
    if (l->paused)
        return true;
    if (!list_turned(l, now))
        return false;
    l->rounds++;
    look_cpu_round_begin(l);
    remote_halts_settle();
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; k < p->threads.count; k++)
            if (!look_at(l, p, &p->threads.at[k], now))
                return false;
    }
    good = look_holders_find(l) && look_events_judge(l, now);
    look_cpu_round_end(l);
    return good;
}

/* The time of all threads ends at one moment: again, where this program has lost the CPU meanwhile. */
static void close_all(struct looks *l)
{
    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t before = now_ns();
        size_t count = 0;

        for (size_t k = 0; k < l->processes.count; k++) {
            struct look_process *p = l->processes.at[k];

            for (size_t j = 0; j < p->threads.count; j++)
                look_wait_close(l, p, &p->threads.at[j]);
            count += p->threads.count;
        }
        if (now_ns() - before < look_pass_ns(count))
            break;
    }
}

/* --- Pauses --------------------------------------------------------------------------------------------- */

/* What threads did up to now is recorded, and then nothing. @return false: the recording cannot be written */
static bool stop_threads(struct looks *l)
{
    bool good = true;

    if (l->waits)
        close_all(l);
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; good && k < p->threads.count; k++) {
            struct look_thread *t = &p->threads.at[k];

            look_thread_read(p, t);
            l->unread += t->wait.late;
            t->wait.late = false;
            good = !l->waits || look_wait_put(l, p, t);
        }
    }
    return good;
}

/*
 * CPU time and waits count from now on, and what was recorded before stays.
 *
 * @return false: it cannot be read now, and is started later
 */
static bool start_thread(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    const uint64_t before = t->cpu, recorded = t->wait.run.cpu_time - t->wait.cpu;

    t->unread = !look_thread_read(p, t) && !remote_task_has_ended(errno);
    if (t->unread)
        return false;
    t->sampled += t->cpu > before ? t->cpu - before : 0;
    t->found = t->cpu;
    t->runs = false;
    if (!l->waits)
        return true;
    look_events_begin(l, t);
    look_wait_begin(p, t, 0);
    t->wait.cpu -= recorded;
    return true;
}

/* What has come in the pause begins now. @return false: no memory */
static bool list_paused(struct looks *l)
{
    l->resumed = now_ns();
    for (size_t i = 0; i < l->processes.count; i++)
        if (!look_process_list_threads(l, l->processes.at[i], now_ns()))
            return false;
    return true;
}

bool looks_pause(struct looks *l, bool paused)
{
    if (paused == l->paused)
        return true;
    if (!paused && !list_paused(l))
        return false;
    l->paused = paused;
    if (paused && !stop_threads(l))
        return false;
    look_events_pause(l, now_ns(), paused);
    for (size_t i = 0; !paused && i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; k < p->threads.count; k++)
            start_thread(l, p, &p->threads.at[k]);
    }
    return true;
}

/* --- Its end -------------------------------------------------------------------------------------------- */

void looks_end(struct looks *l)
{
    if (l->waits && !l->paused)
        close_all(l);
    l->ends = true;
    for (size_t i = 0; i < l->processes.count; i++)
        look_threads_close(l, l->processes.at[i]);
}

void looks_close(struct looks *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->processes.count; i++)
        look_process_free(l, l->processes.at[i]);
    free(l->processes.at);
    look_cpu_close(l);
    remote_look_free(&l->look);
    look_awaited_free(&l->awaited);
    report_strings_free(&l->names);
    free(l->due.at);
    free(l);
}
