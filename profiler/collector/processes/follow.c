#include "profiler/collector/processes/follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/collector/processes/ends.h"
#include "profiler/collector/processes/identity.h"
#include "profiler/collector/processes/perf_map.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/processes/untracked.h"
#include "profiler/collector/rings/slots.h"

/* In looks, which are 10 ms apart. */
enum { LOST_EVERY = 5, THREADS_EVERY = 25, PROCESSES_EVERY = 50 };

/* A time, not a number of looks: these come faster when agents wake the recorder. */
static const uint64_t search_ns = 200000000;

/* The other half of the descriptors is for events. */
static size_t pidfds_limit(void)
{
    enum { OTHERS = 24 };
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 < OTHERS)
        return 0;
    return (size_t)(limit.rlim_cur / 2) - OTHERS;
}

struct sfb_recorder_follow *sfb_recorder_follow_open(
    const struct sfb_recorder_follow_options *options)
{
    struct sfb_recorder_follow *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->shared = options->shared;
    f->processes = (const struct sfb_shared_process *)(const void *)((uint8_t *)options->shared +
                                                                     SFB_SHARED_PROCESSES_AT);
    f->ring_bytes = options->shared->ring_bytes;
    f->events = options->events;
    f->first = options->first;
    f->no_children = options->no_children;
    f->elsewhere = options->elsewhere;
    f->alone = options->alone ? options->alone : "";
    f->writer = options->writer;
    f->pidfds_max = pidfds_limit();
    sfb_recorder_task_space(getpid(), "pid", &f->pid_space);
    sfb_recorder_task_space(getpid(), "time", &f->time_space);
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        f->ring[i].fd = -1;
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        f->untracked[i].event.fd = -1;
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        f->process[i].pidfd = -1;
    return f;
}

void sfb_recorder_follow_drain(struct sfb_recorder_follow *f, struct sfb_recorder_drain *drain)
{
    f->drain = drain;
}

/* --- processes ----------------------------------------------------------------------------------- */

/*
 * Notes the program's file: later another file shows that the process executed a program without an agent. A forked
 * process may have done so before this look, so its parent's program counts.
 */
static void note_program(const struct sfb_recorder_follow *f, uint32_t slot,
                         struct sfb_recorder_followed *p)
{
    const bool forked =
        __atomic_load_n(&f->processes[slot].how, __ATOMIC_RELAXED) == SFB_PROCESS_FORKED;
    char path[64];
    struct stat file;

    for (size_t i = 0; forked && p->parent > 0 && i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && f->process[i].here == p->parent) {
            p->device = f->process[i].device;
            p->inode = f->process[i].inode;
            return;
        }
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->here);
    if (stat(path, &file) != 0)
        return;
    p->device = file.st_dev;
    p->inode = file.st_ino;
    /* Too late: the agent reported another program. No file has this inode. */
    if (!forked && sfb_recorder_identity_has_changed(f, slot))
        p->inode = UINT64_MAX;
}

/* Without a pidfd, kill() checks the pid. Some descriptors are kept for reading /proc. */
static void watch(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];

    p->lost = false;
    note_program(f, slot, p);
    if (f->pidfds >= f->pidfds_max)
        return;
    p->pidfd = (int)syscall(SYS_pidfd_open, p->here, 0);
    if (p->pidfd >= 0)
        f->pidfds++;
    else if (errno == ESRCH)
        sfb_recorder_ends_tell(f, slot, SFB_PROCESS_GONE, 0, 0);
}

/* --- what records elsewhere ----------------------------------------------------------------------- */

/* A process that has gone was not found here: its own pid is the one here, as a rule. */
static pid_t pid_of(const struct sfb_recorder_followed *p)
{
    return p->here > 0 ? p->here : p->pid;
}

static uint64_t time_here(const struct sfb_recorder_follow *f, uint32_t slot, uint64_t time)
{
    const pid_t here = f->process[slot].here;
    const int64_t ahead = here > 0 ? sfb_recorder_identity_clock(f, here) : 0;

    return time - (uint64_t)ahead;
}

static void tell_came(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];
    const uint64_t start = __atomic_load_n(&f->processes[slot].start, __ATOMIC_RELAXED);

    if (!f->elsewhere.with || p->came || p->lost)
        return;
    p->came = true;
    f->elsewhere.agent_came(f->elsewhere.with, slot, pid_of(p), time_here(f, slot, start));
}

/* Agents leave processes that set a seccomp filter. */
static void tell_left(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];
    const struct sfb_shared_process *shared = &f->processes[slot];
    const uint64_t end = __atomic_load_n(&shared->end, __ATOMIC_RELAXED);

    if (!f->elsewhere.with || !p->came || p->left || end == 0 ||
        __atomic_load_n(&shared->lost[SFB_LOSS_FILTER], __ATOMIC_RELAXED) == 0)
        return;
    p->left = true;
    f->elsewhere.agent_left(f->elsewhere.with, pid_of(p), time_here(f, slot, end));
    if (!sfb_recorder_task_has_ended(pid_of(p)) &&
        !f->elsewhere.records(f->elsewhere.with, pid_of(p)))
        sfb_recorder_drain_lost(f->drain, p->id, SFB_LOSS_FILTER, 1, "");
}

/* A process that is not found may still live: /proc omits children while others exit, may hide some, and needs a descriptor. */
static void search(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];
    const enum sfb_recorder_found found = sfb_recorder_identity_find(f, slot);

    if (p->searched == 0)
        p->searched = sfb_recorder_now();
    p->lost = found == SFB_FOUND_UNSURE ||
              (found == SFB_FOUND_NOWHERE && sfb_recorder_now() - p->searched < search_ns);
    if (p->here > 0)
        watch(f, slot);
    else if (!sfb_recorder_ends_tell_of_reaped(f, slot) && !p->lost)
        sfb_recorder_ends_tell(f, slot, SFB_PROCESS_GONE, 0, 0);
}

static uint32_t process_before(void *with, uint32_t slot, uint32_t pid)
{
    struct sfb_recorder_follow *f = with;
    const uint32_t before = sfb_recorder_identity_before(f, slot, (pid_t)pid);

    f->executing.pid = 0;
    if (before < SFB_SHARED_PROCESS_MAX && f->process[before].here != 0) {
        f->executing.pid = (pid_t)pid;
        f->executing.here = f->process[before].here;
        f->executing.same = f->process[before].same;
        f->executing.pid_space = f->process[before].pid_space;
    }
    return before;
}

static bool process_began(void *with, uint32_t slot, uint32_t pid)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_followed *p = &f->process[slot];
    const bool executed = pid != 0 && f->executing.pid == (pid_t)pid;

    *p = (struct sfb_recorder_followed){ .pid = (pid_t)pid, .pidfd = -1 };
    f->executing.pid = 0;
    /* Agents of programs executed from now on do not accept the session. */
    if (f->no_children)
        __atomic_store_n(&f->shared->version, 0, __ATOMIC_RELEASE);
    if (executed) {
        p->here = f->executing.here;
        p->same = f->executing.same;
        p->pid_space = f->executing.pid_space;
        sfb_recorder_identity_note(f, p);
        watch(f, slot);
    } else {
        search(f, slot);
    }
    tell_came(f, slot);
    return true;
}

static void catch_up(void *with, uint64_t time)
{
    const struct sfb_recorder_follow *f = with;
    const uint64_t now = sfb_recorder_now();

    if (f->elsewhere.with)
        f->elsewhere.catch_up(f->elsewhere.with, time < now ? time : now);
}

static uint32_t process_continued(void *with, uint32_t slot, uint64_t *weight_ns)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];

    return p->came ? f->elsewhere.hand_over(f->elsewhere.with, pid_of(p), weight_ns) : 0;
}

static uint64_t executed_weight(void *with, uint32_t slot)
{
    const struct sfb_recorder_follow *f = with;
    const pid_t here = f->process[slot].here;

    return f->elsewhere.with && here > 0 ? f->elsewhere.weight_of(f->elsewhere.with, here) : 0;
}

/* Across namespaces a thread's own number says nothing here. */
static uint32_t thread_continued(void *with, uint32_t slot, uint32_t tid)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];

    return p->came && pid_of(p) == p->pid
               ? f->elsewhere.hand_over_thread(f->elsewhere.with, (pid_t)tid)
               : 0;
}

static void process_named(void *with, uint32_t slot, uint32_t id)
{
    struct sfb_recorder_follow *f = with;

    f->process[slot].id = id;
}

static int64_t process_clock(void *with, uint32_t slot)
{
    const struct sfb_recorder_follow *f = with;

    return f->process[slot].here > 0 ? sfb_recorder_identity_clock(f, f->process[slot].here) : 0;
}

static uint32_t process_elsewhere(void *with, uint32_t pid)
{
    const struct sfb_recorder_follow *f = with;

    return f->elsewhere.with ? f->elsewhere.id_of(f->elsewhere.with, pid) : 0;
}

static void process_ends(void *with, uint32_t slot, uint32_t pid, uint32_t id)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_followed *p = &f->process[slot];

    if (p->pid == 0)
        return;
    tell_left(f, slot);
    if (p->came)
        f->elsewhere.agent_ended(f->elsewhere.with, slot);
    if (!p->executed) /* else the file is the next program's */
        sfb_recorder_perf_map_take(f->writer, id, (pid_t)pid, p->owner);
    sfb_recorder_untracked_forget(f, p->pid);
    if (p->pidfd >= 0) {
        close(p->pidfd);
        f->pidfds--;
    }
    *p = (struct sfb_recorder_followed){ .pidfd = -1 };
}

/* --- threads ------------------------------------------------------------------------------------- */

/* A process just found is not checked again. With one thread, its clock is that thread's. */
static bool open_event(struct sfb_recorder_follow *f, struct sfb_recorder_followed *p,
                       struct sfb_recorder_event *event, pid_t tid, uint64_t sampled)
{
    const bool fresh = p->fresh && tid == p->pid;

    p->fresh = false;
    return (fresh || sfb_recorder_task_is_of(tid, p->pid, f->events->signal)) &&
           sfb_recorder_event_open(f->events, event, tid, fresh ? p->here : 0, sampled);
}

static void thread_began(void *with, uint32_t ring, uint32_t slot, uint32_t tid)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_event *event = &f->ring[ring];
    struct sfb_shared_ring *shared = sfb_shared_ring(f->shared, f->ring_bytes, ring);
    bool runs, good;

    if (!f->events)
        return;
    runs = f->process[slot].same && sfb_recorder_untracked_take(f, (pid_t)tid, event);
    good = runs || (f->process[slot].same &&
                    open_event(f, &f->process[slot], event, (pid_t)tid,
                               __atomic_load_n(&shared->cpu_sampled, __ATOMIC_RELAXED)));
    /* First the agent learns of the event, which stops its timer; then the event begins. */
    __atomic_store_n(&shared->event_fd, good ? (uint32_t)event->fd + 1 : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->event, good ? 1 : 2, __ATOMIC_RELEASE);
    if (good && !runs)
        sfb_recorder_event_enable(f->events, event);
}

/* False for a process whose pids differ from those here. */
static bool thread_lives(void *with, uint32_t slot, uint32_t tid)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];

    return p->same && tid != 0 &&
           (syscall(SYS_tgkill, p->pid, (pid_t)tid, 0) == 0 || errno == EPERM);
}

static void thread_ended(void *with, uint32_t ring)
{
    struct sfb_recorder_follow *f = with;

    if (f->events)
        sfb_recorder_event_close(f->events, &f->ring[ring]);
    f->ring[ring].tid = 0;
}

static bool thread_cpu(void *with, uint32_t ring, uint64_t *out)
{
    const struct sfb_recorder_follow *f = with;

    return sfb_recorder_event_cpu(&f->ring[ring], out);
}

/* Where no event counts it, as /proc says it. */
static bool thread_cpu_now(void *with, uint32_t ring, uint64_t *out)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_shared_ring *shared = sfb_shared_ring(f->shared, f->ring_bytes, ring);
    const uint32_t slot = __atomic_load_n(&shared->process, __ATOMIC_RELAXED),
                   tid = __atomic_load_n(&shared->tid, __ATOMIC_RELAXED);

    return thread_cpu(with, ring, out) ||
           (slot < SFB_SHARED_PROCESS_MAX && thread_lives(with, slot, tid) &&
            sfb_recorder_task_cpu((pid_t)tid, out));
}

static bool process_cpu(void *with, uint32_t slot, uint64_t *out)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];

    if (p->here == 0 || p->told || p->executed || !sfb_recorder_process_cpu(p->here, out))
        *out = p->cpu;
    return *out != 0;
}

static uint64_t process_resident(void *with, uint32_t slot)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];
    uint64_t bytes = 0;

    return p->here > 0 && !p->told && sfb_recorder_process_resident(p->here, &bytes) ? bytes : 0;
}

struct sfb_recorder_watcher sfb_recorder_follow_watcher(struct sfb_recorder_follow *f)
{
    return (struct sfb_recorder_watcher){ .with = f,
                                          .process_before = process_before,
                                          .process_began = process_began,
                                          .catch_up = catch_up,
                                          .executed_weight = executed_weight,
                                          .process_continued = process_continued,
                                          .thread_continued = thread_continued,
                                          .process_named = process_named,
                                          .process_clock = process_clock,
                                          .process_ends = process_ends,
                                          .process_elsewhere = process_elsewhere,
                                          .thread_began = thread_began,
                                          .thread_ended = thread_ended,
                                          .thread_lives = thread_lives,
                                          .thread_cpu = thread_cpu,
                                          .thread_cpu_now = thread_cpu_now,
                                          .process_cpu = process_cpu,
                                          .process_resident = process_resident };
}

/* --- looks --------------------------------------------------------------------------------------- */

static void look_for_lost(struct sfb_recorder_follow *f)
{
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && !f->process[i].told && f->process[i].lost) {
            search(f, i);
            tell_came(f, i);
        }
}

/* The program writes this cost, and can thereby lower its own rate, within bounds. */
static uint64_t dearest_handler(const struct sfb_recorder_follow *f)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        if (f->ring[i].fd >= 0) {
            const uint32_t cost = __atomic_load_n(
                &sfb_shared_ring(f->shared, f->ring_bytes, i)->cost_ns, __ATOMIC_RELAXED);

            most = cost > most ? cost : most;
        }
    return most;
}

static void set_periods(struct sfb_recorder_follow *f)
{
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        sfb_recorder_event_slow(f->events, &f->ring[i]);
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        sfb_recorder_event_slow(f->events, &f->untracked[i].event);
}

void sfb_recorder_follow_pause(struct sfb_recorder_follow *f, bool paused)
{
    if (!f->events)
        return;
    f->events->paused = paused;
    set_periods(f);
}

static void slow_down(struct sfb_recorder_follow *f)
{
    const uint64_t before = f->events->period;
    char text[128];

    if (!sfb_recorder_events_slow(f->events, dearest_handler(f)))
        return;
    __atomic_store_n(&f->shared->period_ns, f->events->period, __ATOMIC_RELAXED);
    set_periods(f);
    snprintf(text, sizeof text, "%llu Hz cost more than half of the CPU time: %llu Hz from then on",
             1000000000ULL / before, 1000000000ULL / f->events->period);
    sfb_recorder_drain_lost(f->drain, 0, SFB_LOSS_RATE, 1, text);
}

static void settle_events(struct sfb_recorder_follow *f)
{
    slow_down(f);
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        sfb_recorder_event_settle(f->events, &f->ring[i]);
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        sfb_recorder_event_settle(f->events, &f->untracked[i].event);
}

void sfb_recorder_follow_settle(struct sfb_recorder_follow *f)
{
    for (uint32_t i = 0; f->events && i < SFB_SHARED_RING_MAX; i++)
        if (f->ring[i].fd >= 0 && f->ring[i].first > 0 &&
            __atomic_load_n(&sfb_shared_ring(f->shared, f->ring_bytes, i)->event_came,
                            __ATOMIC_RELAXED))
            sfb_recorder_event_settle(f->events, &f->ring[i]);
}

void sfb_recorder_follow_look(struct sfb_recorder_follow *f)
{
    sfb_recorder_ends_look(f);
    if (f->events)
        settle_events(f);
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0)
            tell_left(f, i);
    f->looks++;
    if (f->looks % LOST_EVERY == 0)
        look_for_lost(f);
    if (f->looks % THREADS_EVERY == 0)
        for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
            if (f->process[i].pid != 0 && !f->process[i].told)
                sfb_recorder_untracked_threads(f, i);
    if (f->looks % PROCESSES_EVERY == 0)
        sfb_recorder_untracked_processes(f);
}

/* What it had used by then: the looks since have counted the new program's time, which is at most what has passed. */
void sfb_recorder_follow_executed(struct sfb_recorder_follow *f, pid_t pid, uint64_t time)
{
    const uint64_t now = sfb_recorder_now(), passed = now > time ? now - time : 0;

    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->here != pid || p->told || p->executed ||
            time_here(f, i, __atomic_load_n(&f->processes[i].start, __ATOMIC_RELAXED)) >= time)
            continue;
        p->executed = true;
        p->cpu = p->cpu > passed ? p->cpu - passed : 0;
    }
}

uint64_t sfb_recorder_follow_unsure(const struct sfb_recorder_follow *f)
{
    uint64_t first = 0;

    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && !f->process[i].told && f->process[i].lost &&
            (first == 0 || f->process[i].searched < first))
            first = f->process[i].searched;
    return first;
}

uint32_t sfb_recorder_follow_id(const struct sfb_recorder_follow *f, pid_t pid)
{
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && f->process[i].here == pid)
            return f->process[i].id;
    return 0;
}

bool sfb_recorder_follow_ended(const struct sfb_recorder_follow *f, int *wait_status)
{
    *wait_status = f->first_status;
    return f->first_ended;
}

size_t sfb_recorder_follow_running(const struct sfb_recorder_follow *f)
{
    size_t count = 0;

    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        count += f->process[i].pid != 0 && !f->process[i].told && !f->process[i].lost;
    return count;
}

void sfb_recorder_follow_end(struct sfb_recorder_follow *f)
{
    sfb_recorder_untracked_end(f);
}

void sfb_recorder_follow_close(struct sfb_recorder_follow *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        sfb_recorder_event_close(f->events, &f->ring[i]);
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        sfb_recorder_event_close(f->events, &f->untracked[i].event);
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pidfd >= 0)
            close(f->process[i].pidfd);
    free(f);
}
