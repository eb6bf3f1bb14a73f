#include "profiler/collector/processes/perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"

/* The kernel's timer goes no lower. */
static const uint64_t shortest_ns = 10000;

/*
 * A first period is no shorter than this part of the period. The kernel sends no signal where it finds the thread in a system
 * call, and then a first period repeats, also one that should fire once, until the recorder notices: at 10 us, threads of
 * 5 ms in system calls had taken 7 s.
 */
static const double shortest_part = 0.125;

enum { FOREVER = 1 << 30 };

/*
 * First periods up to 1/e of the period fire once. The right period begins when the recorder notices that signal, a
 * little later, or much later on a busy machine. Until then, a short period that repeated would be a storm; a long one
 * that did not would miss samples. At 1/e both errors are equal: as many samples too many as too few.
 */
static const double once_part = 0.3679;

/* Uniform in (0, period]. */
static uint64_t random_of(uint64_t period)
{
    uint32_t random = 0;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = UINT32_MAX / 2;
    return (uint64_t)((double)period * (((double)random + 1) / ((double)UINT32_MAX + 1)));
}

/*
 * The first sample comes a random part of a period after the thread's start or last sample: threads that live for less
 * than a period are sampled as often as they should be. Some of that time has passed before the event exists. If all of
 * it has, the signal comes as soon as it may.
 */
static uint64_t first_of(uint64_t period, uint64_t passed)
{
    const uint64_t after = random_of(period), part = (uint64_t)(shortest_part * (double)period),
                   shortest = part > shortest_ns ? part : shortest_ns;

    return after > passed + shortest ? after - passed : shortest;
}

/*
 * In user mode only: a signal on entry to the kernel ends the call with EINTR. profiler/agent/cpu/weight.h explains how
 * kernel time, which the event counts too, is sampled.
 *
 * The signal goes to the thread only. The event does not survive exec: the new program has no handler, and the signal
 * would end it. Kernels without remove_on_exec (before 5.13) refuse.
 */
static int open_event(const struct sfb_recorder_events *events, pid_t tid, uint64_t period)
{
    const struct f_owner_ex owner = { .type = F_OWNER_TID,
                                      .pid = tid != 0 ? tid : (pid_t)syscall(SYS_gettid) };
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof attr,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .sample_period = period,
                                    .disabled = 1,
                                    .exclude_hv = 1,
                                    .exclude_kernel = 1,
                                    .remove_on_exec = 1,
                                    .wakeup_events = 1 };
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC), cause;

    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, events->signal) == 0 &&
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0)
        return fd;
    cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

static uint64_t own_cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

const char *sfb_recorder_events_try(const struct sfb_recorder_events *events)
{
    static const uint64_t period_ns = 100000, limit_ns = 20000000;
    static const struct timespec none = { 0 };
    static char text[128];
    const uint64_t start = own_cpu();
    const int fd = open_event(events, 0, period_ns);
    sigset_t wanted, before;
    bool came = false;

    if (fd < 0) {
        snprintf(text, sizeof text, "perf_event_open: %s", strerror(errno));
        return text;
    }
    sigemptyset(&wanted);
    sigaddset(&wanted, events->signal);
    pthread_sigmask(SIG_BLOCK, &wanted, &before);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    while (!came && own_cpu() - start < limit_ns) {
        for (volatile unsigned i = 0; i < 20000; i++)
            continue; /* user mode: a period that ends in a system call sends no signal */
        came = sigtimedwait(&wanted, NULL, &none) == events->signal;
    }
    close(fd);
    while (sigtimedwait(&wanted, NULL, &none) == events->signal)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return came ? NULL : "perf sends no signals";
}

static volatile sig_atomic_t signals_seen;

static void count_signal(int signal)
{
    (void)signal;
    signals_seen++;
}

/* @return CPU time of some work; *signals arrived meanwhile */
static uint64_t time_work(sig_atomic_t *signals)
{
    const sig_atomic_t before = signals_seen;
    const uint64_t start = own_cpu();
    uint64_t passed;

    for (volatile unsigned i = 0; i < 5000; i++)
        continue;
    passed = own_cpu() - start;
    *signals = signals_seen - before;
    return passed;
}

/* @return the additional CPU time of that work per signal */
static uint64_t measure(int fd)
{
    enum { SIGNALS = 8, TURNS = 2000 };
    uint64_t alone = UINT64_MAX, with = 0;
    unsigned count = 0;

    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (unsigned i = 0; i < TURNS && count < SIGNALS; i++) {
        sig_atomic_t signals;
        const uint64_t passed = time_work(&signals);

        if (signals == 0 && passed < alone)
            alone = passed;
        if (signals == 1) {
            with += passed;
            count++;
        }
    }
    return count > 0 && alone < with / count ? with / count - alone : 0;
}

void sfb_recorder_events_measure(struct sfb_recorder_events *events)
{
    static const uint64_t period_ns = 150000;
    static const struct timespec none = { 0 };
    struct sigaction action = { .sa_handler = count_signal }, before;
    const int fd = open_event(events, 0, period_ns);
    sigset_t ours;

    if (fd < 0)
        return;
    sigemptyset(&ours);
    sigaddset(&ours, events->signal);
    if (sigaction(events->signal, &action, &before) == 0) {
        events->delivery_ns = measure(fd);
        pthread_sigmask(SIG_BLOCK, &ours, NULL);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        while (sigtimedwait(&ours, NULL, &none) == events->signal)
            continue;
        sigaction(events->signal, &before, NULL);
        pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    }
    close(fd);
}

bool sfb_recorder_events_slow(struct sfb_recorder_events *events, uint64_t handler_ns)
{
    static const uint64_t longest_ns = 10000000; /* bound of a cost that the program writes */
    const uint64_t cost = events->delivery_ns + handler_ns,
                   wanted = cost < longest_ns / 4 ? 2 * cost : longest_ns / 2;

    if (wanted <= events->period)
        return false;
    events->period = wanted + wanted / 4; /* headroom: not again for each small increase */
    events->slowed++;
    return true;
}

size_t sfb_recorder_events_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return (size_t)(limit.rlim_cur / 2);
}

bool sfb_recorder_event_open(struct sfb_recorder_events *events, struct sfb_recorder_event *out,
                             pid_t tid, pid_t process, uint64_t sampled)
{
    *out =
        (struct sfb_recorder_event){ .fd = -1, .tid = tid, .process = process, .sampled = sampled };
    if (events->count >= events->limit) {
        errno = EMFILE;
        return false;
    }
    out->fd = open_event(events, tid, events->period);
    if (out->fd < 0)
        return false;
    events->count++;
    return true;
}

/* The clock is read last: what passes after it is in no sample. */
void sfb_recorder_event_enable(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event)
{
    if (event->process == 0 || !sfb_recorder_process_cpu(event->process, &event->base))
        sfb_recorder_task_cpu(event->tid, &event->base);
    event->first =
        first_of(events->period, event->base > event->sampled ? event->base - event->sampled : 0);
    event->once = (double)event->first < once_part * (double)events->period;
    ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &event->first);
    if (event->once)
        ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1);
    else
        ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static bool read_count(const struct sfb_recorder_event *event, uint64_t *out)
{
    return event->fd >= 0 && read(event->fd, out, sizeof *out) == (ssize_t)sizeof *out;
}

/* A signal in a pause is of no use, and costs as much as a short walk. */
static uint64_t period_of(const struct sfb_recorder_events *events)
{
    static const uint64_t paused_ns = 250000000;

    return events->paused && events->period < paused_ns ? paused_ns : events->period;
}

void sfb_recorder_event_settle(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event)
{
    uint64_t period = period_of(events), count;

    if (event->fd < 0 || event->first == 0 || !read_count(event, &count) || count < event->first)
        return;
    if (ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period) != 0)
        return;
    event->first = 0;
    if (!event->once)
        return;
    /* Once after its signal, it has not counted. That signal may still be under way, and must not be the last. */
    if (sfb_recorder_task_cpu(event->tid, &event->base))
        event->base -= count;
    ioctl(event->fd, PERF_EVENT_IOC_REFRESH, FOREVER);
}

void sfb_recorder_event_slow(const struct sfb_recorder_events *events,
                             const struct sfb_recorder_event *event)
{
    uint64_t period = period_of(events);

    /* Of a first period that runs, the right one follows. */
    if (event->fd >= 0 && (event->first == 0 || !events->paused))
        ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period);
}

bool sfb_recorder_event_cpu(const struct sfb_recorder_event *event, uint64_t *out)
{
    uint64_t count;

    if (!read_count(event, &count))
        return false;
    *out = event->base + count;
    return true;
}

void sfb_recorder_event_close(struct sfb_recorder_events *events, struct sfb_recorder_event *event)
{
    if (event->fd < 0)
        return;
    close(event->fd);
    event->fd = -1;
    events->count--;
}
