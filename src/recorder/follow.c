#include "recorder/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/identity.h"
#include "recorder/perf_map.h"
#include "recorder/stray.h"
#include "recorder/tasks.h"

/* In looks, which are 10 ms apart. */
enum { THREADS_EVERY = 25, PROCESSES_EVERY = 50, WAITS_MAX = 20 };

/* Half of the descriptors are for events. */
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
    f->rings = (struct sfb_shared_ring *)(void *)((uint8_t *)options->shared + SFB_SHARED_RINGS_AT);
    f->events = options->events;
    f->first = options->first;
    f->no_children = options->no_children;
    f->writer = options->writer;
    f->pidfds_max = pidfds_limit();
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        f->ring[i].fd = -1;
    for (size_t i = 0; i < STRAYS_MAX; i++)
        f->stray[i].event.fd = -1;
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        f->process[i].pidfd = -1;
    return f;
}

void sfb_recorder_follow_drain(struct sfb_recorder_follow *f, struct sfb_recorder_drain *drain)
{
    f->drain = drain;
}

/* --- processes ----------------------------------------------------------------------------------- */

static void tell(struct sfb_recorder_follow *f, struct sfb_recorder_followed *p, uint32_t end,
                 uint32_t status, uint64_t cpu)
{
    if (!p->told)
        sfb_recorder_drain_ended(f->drain, (uint32_t)(p - f->process), end, status, cpu);
    p->told = true;
}

/* It ended, and was waited for, before its slot was looked at. */
static bool tell_of_reaped(struct sfb_recorder_follow *f, struct sfb_recorder_followed *p)
{
    for (size_t i = 0; i < REAPED_MAX; i++) {
        struct sfb_recorder_reaped *r = &f->reaped[i];

        if (r->pid != p->pid)
            continue;
        tell(f, p, r->end, r->status, r->cpu);
        r->pid = 0;
        return true;
    }
    return false;
}

static unsigned owner_of(pid_t pid)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    return stat(path, &file) == 0 ? file.st_uid : geteuid();
}

/*
 * By which it is noticed that another program was executed, and no agent came. A forked process may have done so before
 * it is looked at: it began with its parent's.
 */
static void note_program(const struct sfb_recorder_follow *f, uint32_t slot,
                         struct sfb_recorder_followed *p)
{
    const bool forked =
        __atomic_load_n(&f->processes[slot].how, __ATOMIC_RELAXED) == SFB_PROCESS_FORKED;
    const pid_t parent = forked ? sfb_recorder_task_parent(p->here) : 0;
    char path[64];
    struct stat file;

    for (size_t i = 0; forked && i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && f->process[i].here == parent) {
            p->device = f->process[i].device;
            p->inode = f->process[i].inode;
            return;
        }
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->here);
    if (stat(path, &file) != 0)
        return;
    p->device = file.st_dev;
    p->inode = file.st_ino;
    /* Too late: what its agent told of was another one. No file has that number. */
    if (!forked && sfb_recorder_identity_has_changed(f, slot))
        p->inode = UINT64_MAX;
}

/* Without a descriptor its number is asked. Some descriptors are left for what looks into /proc. */
static void watch(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];

    p->lost = false;
    p->owner = owner_of(p->here);
    note_program(f, slot, p);
    if (f->pidfds >= f->pidfds_max)
        return;
    p->pidfd = (int)syscall(SYS_pidfd_open, p->here, 0);
    if (p->pidfd >= 0)
        f->pidfds++;
    else if (errno == ESRCH)
        tell(f, p, SFB_PROCESS_GONE, 0, 0);
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
    }
    return before;
}

static bool process_began(void *with, uint32_t slot, uint32_t pid, uint32_t id)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_followed *p = &f->process[slot];
    const bool executed = pid != 0 && f->executing.pid == (pid_t)pid;

    *p = (struct sfb_recorder_followed){ .pid = (pid_t)pid, .id = id, .pidfd = -1 };
    f->executing.pid = 0;
    /* Agents of programs that are executed from now on do not know it. */
    if (f->no_children)
        __atomic_store_n(&f->shared->version, 0, __ATOMIC_RELEASE);
    if (executed) {
        p->here = f->executing.here;
        p->same = f->executing.same;
    } else {
        p->lost = !sfb_recorder_identity_find(f, slot);
    }
    if (p->here > 0)
        watch(f, slot);
    else if (!tell_of_reaped(f, p) && !p->lost)
        tell(f, p, SFB_PROCESS_GONE, 0, 0);
    return true;
}

static int64_t process_clock(void *with, uint32_t slot)
{
    const struct sfb_recorder_follow *f = with;

    return f->process[slot].here > 0 ? sfb_recorder_identity_clock(f->process[slot].here) : 0;
}

static void process_ends(void *with, uint32_t slot, uint32_t pid, uint32_t id)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_followed *p = &f->process[slot];

    if (p->pid == 0)
        return;
    sfb_recorder_perf_map_take(f->writer, id, (pid_t)pid, p->owner);
    sfb_recorder_stray_forget(f, p->pid);
    if (p->pidfd >= 0) {
        close(p->pidfd);
        f->pidfds--;
    }
    *p = (struct sfb_recorder_followed){ .pidfd = -1 };
}

/* --- threads ------------------------------------------------------------------------------------- */

static void thread_began(void *with, uint32_t ring, uint32_t slot, uint32_t tid)
{
    struct sfb_recorder_follow *f = with;
    struct sfb_recorder_event *event = &f->ring[ring];
    const struct sfb_recorder_followed *p = &f->process[slot];
    bool good;

    if (!f->events)
        return;
    good = p->same && (sfb_recorder_stray_take(f, (pid_t)tid, event) ||
                       (sfb_recorder_task_is_of((pid_t)tid, p->pid, f->events->signal) &&
                        sfb_recorder_event_open(f->events, event, (pid_t)tid)));
    /* First the agent is told of the event, and its timer to stop, then the event begins. */
    __atomic_store_n(&f->rings[ring].event_fd, good ? (uint32_t)event->fd + 1 : 0,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&f->rings[ring].event, good ? 1 : 2, __ATOMIC_RELEASE);
    if (good)
        sfb_recorder_event_enable(event);
}

/* Elsewhere its number means another one. */
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

static bool process_cpu(void *with, uint32_t slot, uint64_t *out)
{
    const struct sfb_recorder_follow *f = with;
    const struct sfb_recorder_followed *p = &f->process[slot];

    if (p->here == 0 || p->told || !sfb_recorder_process_cpu(p->here, out))
        *out = p->cpu;
    return *out != 0;
}

struct sfb_recorder_watcher sfb_recorder_follow_watcher(struct sfb_recorder_follow *f)
{
    return (struct sfb_recorder_watcher){ .with = f,
                                          .process_before = process_before,
                                          .process_began = process_began,
                                          .process_clock = process_clock,
                                          .process_ends = process_ends,
                                          .thread_began = thread_began,
                                          .thread_ended = thread_ended,
                                          .thread_lives = thread_lives,
                                          .thread_cpu = thread_cpu,
                                          .process_cpu = process_cpu };
}

/* --- ends ---------------------------------------------------------------------------------------- */

static void waited_for(struct sfb_recorder_follow *f, const siginfo_t *info)
{
    const bool exited = info->si_code == CLD_EXITED;
    struct sfb_recorder_reaped reaped = { .pid = info->si_pid,
                                          .end = exited ? SFB_PROCESS_EXITED : SFB_PROCESS_KILLED,
                                          .status = (uint32_t)info->si_status };
    bool told = false;

    sfb_recorder_process_cpu(info->si_pid, &reaped.cpu);
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->here != info->si_pid)
            continue;
        told = true;
        tell(f, p, reaped.end, reaped.status, reaped.cpu);
    }
    if (!told)
        f->reaped[f->reaped_next++ % REAPED_MAX] = reaped;
    if (info->si_pid == f->first) {
        f->first_ended = true;
        f->first_status = exited ? W_EXITCODE(info->si_status, 0) : info->si_status;
    }
}

/*
 * Waits for what has ended: the first program, and orphans. Before that their clocks can still be read, and what they
 * have left in their slots is read first.
 */
static void reap(struct sfb_recorder_follow *f)
{
    bool drained = false;

    for (;;) {
        siginfo_t info = { .si_pid = 0 };

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return;
        if (!drained)
            sfb_recorder_drain(f->drain);
        drained = true;
        waited_for(f, &info);
        waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
    }
}

/* Linux 6.15 tells it of processes that another one waited for. */
struct pidfd_exit_info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
    uint64_t room[8];
};

static bool ask_exit(int pidfd, uint32_t *end, uint32_t *status)
{
    static const uint64_t exit_mask = 1 << 3;
    static const unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 0xff, 11, 64);
    struct pidfd_exit_info info = { .mask = exit_mask };

    if (ioctl(pidfd, request, &info) != 0 || (info.mask & exit_mask) == 0)
        return false;
    *end = WIFSIGNALED(info.exit_code) ? SFB_PROCESS_KILLED : SFB_PROCESS_EXITED;
    *status = (uint32_t)(WIFSIGNALED(info.exit_code) ? WTERMSIG(info.exit_code)
                                                     : WEXITSTATUS(info.exit_code));
    return true;
}

/* Who has no descriptor. An agent's word for its own end is taken where nobody else has one. */
static bool has_ended(const struct sfb_recorder_follow *f, uint32_t slot)
{
    const struct sfb_recorder_followed *p = &f->process[slot];

    if (p->here == 0)
        return __atomic_load_n(&f->processes[slot].state, __ATOMIC_ACQUIRE) == SFB_SLOT_ENDED;
    return f->looks % THREADS_EVERY == 0 ? sfb_recorder_task_has_ended(p->here) &&
                                               sfb_recorder_task_parent(p->here) != getpid()
                                         : kill(p->here, 0) != 0 && errno == ESRCH;
}

static void look_without_descriptors(struct sfb_recorder_follow *f)
{
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->told || p->pidfd >= 0)
            continue;
        if (p->lost && f->looks % THREADS_EVERY == 0) {
            p->lost = !sfb_recorder_identity_find(f, i);
            if (p->here > 0)
                watch(f, i);
        }
        if (has_ended(f, i) || (p->here == 0 && !p->lost))
            tell(f, p, SFB_PROCESS_GONE, 0, p->cpu);
    }
}

/* Those that their own parents wait for. */
static void look_at_ends(struct sfb_recorder_follow *f)
{
    struct pollfd polled[SFB_SHARED_PROCESS_MAX];
    uint32_t slots[SFB_SHARED_PROCESS_MAX];
    nfds_t count = 0;

    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->told)
            continue;
        slots[count] = i;
        polled[count++] = (struct pollfd){ .fd = p->pidfd, .events = POLLIN };
        if (p->here > 0)
            sfb_recorder_process_cpu(p->here, &p->cpu);
    }
    if (count == 0 || poll(polled, count, 0) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++) {
        struct sfb_recorder_followed *p = &f->process[slots[i]];
        uint32_t end = SFB_PROCESS_GONE, status = 0;

        if (polled[i].revents == 0 || sfb_recorder_task_parent(p->here) == getpid())
            continue;
        if (ask_exit(p->pidfd, &end, &status) || p->waits++ >= WAITS_MAX)
            tell(f, p, end, status, p->cpu);
    }
}

static void settle_events(struct sfb_recorder_follow *f)
{
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        sfb_recorder_event_settle(f->events, &f->ring[i]);
    for (size_t i = 0; i < STRAYS_MAX; i++)
        sfb_recorder_event_settle(f->events, &f->stray[i].event);
}

void sfb_recorder_follow_look(struct sfb_recorder_follow *f)
{
    reap(f);
    look_at_ends(f);
    look_without_descriptors(f);
    if (f->events)
        settle_events(f);
    f->looks++;
    if (f->looks % THREADS_EVERY == 0)
        for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
            if (f->process[i].pid != 0 && !f->process[i].told)
                sfb_recorder_stray_threads(f, i);
    if (f->looks % PROCESSES_EVERY == 0)
        sfb_recorder_stray_processes(f);
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

void sfb_recorder_follow_close(struct sfb_recorder_follow *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        sfb_recorder_event_close(f->events, &f->ring[i]);
    for (size_t i = 0; i < STRAYS_MAX; i++)
        sfb_recorder_event_close(f->events, &f->stray[i].event);
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pidfd >= 0)
            close(f->process[i].pidfd);
    free(f);
}
