#include "profiler/collector/processes/ends.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"

/* In looks, which are 10 ms apart. */
enum { ZOMBIES_EVERY = 25, WAITS_MAX = 20 };

void sfb_recorder_ends_tell(struct sfb_recorder_follow *f, uint32_t slot, uint32_t end,
                            uint32_t status, uint64_t cpu)
{
    if (!f->process[slot].told)
        sfb_recorder_drain_ended(f->drain, slot, end, status, cpu);
    f->process[slot].told = true;
}

bool sfb_recorder_ends_tell_of_reaped(struct sfb_recorder_follow *f, uint32_t slot)
{
    for (size_t i = 0; i < REAPED_MAX; i++) {
        struct sfb_recorder_reaped *r = &f->reaped[i];

        if (r->pid != f->process[slot].pid)
            continue;
        sfb_recorder_ends_tell(f, slot, r->end, r->status, r->cpu);
        r->pid = 0;
        return true;
    }
    return false;
}

static void waited_for(struct sfb_recorder_follow *f, const siginfo_t *info)
{
    const bool exited = info->si_code == CLD_EXITED;
    struct sfb_recorder_reaped reaped = { .pid = info->si_pid,
                                          .end = exited ? SFB_PROCESS_EXITED : SFB_PROCESS_KILLED,
                                          .status = (uint32_t)info->si_status };
    bool told = false;

    sfb_recorder_process_cpu(info->si_pid, &reaped.cpu);
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        const struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->here != info->si_pid)
            continue;
        told = true;
        sfb_recorder_ends_tell(f, i, reaped.end, reaped.status, p->executed ? p->cpu : reaped.cpu);
    }
    if (!told)
        f->reaped[f->reaped_next++ % REAPED_MAX] = reaped;
    if (info->si_pid == f->first) {
        f->first_ended = true;
        f->first_status = exited ? W_EXITCODE(info->si_status, 0)
                                 : info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
    }
}

/*
 * Reaps ended children: the first program, and orphans. Until then their clocks can be read, and their slots are drained
 * first.
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

/* For PIDFD_GET_INFO. Linux 6.15 gives it also for processes that another process has reaped. */
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

/* For a process without a pidfd. Its agent's own report counts only if the process was not found here. */
static bool has_ended(const struct sfb_recorder_follow *f, uint32_t slot)
{
    const struct sfb_recorder_followed *p = &f->process[slot];

    if (p->here == 0)
        return __atomic_load_n(&f->processes[slot].state, __ATOMIC_ACQUIRE) == SFB_SLOT_ENDED;
    return f->looks % ZOMBIES_EVERY == 0 ? sfb_recorder_task_has_ended(p->here) &&
                                               sfb_recorder_task_parent(p->here) != getpid()
                                         : kill(p->here, 0) != 0 && errno == ESRCH;
}

static void look_without_descriptors(struct sfb_recorder_follow *f)
{
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->told || p->pidfd >= 0)
            continue;
        if (has_ended(f, i) || (p->here == 0 && !p->lost))
            sfb_recorder_ends_tell(f, i, SFB_PROCESS_GONE, 0, p->cpu);
    }
}

/* Checks processes that their own parents reap. */
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
        if (p->here > 0 && !p->executed)
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
            sfb_recorder_ends_tell(f, slots[i], end, status, p->cpu);
    }
}

void sfb_recorder_ends_look(struct sfb_recorder_follow *f)
{
    reap(f);
    look_at_ends(f);
    look_without_descriptors(f);
}
