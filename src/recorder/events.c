#include "recorder/events.h"

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

#include "recorder/tasks.h"

/* Below it the kernel's timer does not go. */
static const uint64_t shortest_ns = 10000;

/* A first period that is shorter than this part of the right one comes once: a storm of them would fill the ring. */
enum { SHORT_PART = 8 };

/* Uniform in (0, period], so that threads that live for less than a period are hit as often as they should be. */
static uint64_t random_of(uint64_t period)
{
    uint32_t random = 0;
    uint64_t value;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = UINT32_MAX / 2;
    value = (uint64_t)((double)period * (((double)random + 1) / ((double)UINT32_MAX + 1)));
    return value < shortest_ns ? shortest_ns : value;
}

/*
 * The signal goes to the thread alone. An event does not outlive exec: the new program has no handler, and the signal
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
                                    .exclude_kernel = events->user_only,
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
    while (!came && own_cpu() - start < limit_ns)
        came = sigtimedwait(&wanted, NULL, &none) == events->signal;
    close(fd);
    while (sigtimedwait(&wanted, NULL, &none) == events->signal)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return came ? NULL : "perf sends no signals";
}

size_t sfb_recorder_events_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return (size_t)(limit.rlim_cur / 2);
}

bool sfb_recorder_event_open(struct sfb_recorder_events *events, struct sfb_recorder_event *out,
                             pid_t tid)
{
    const uint64_t first = random_of(events->period);

    *out = (struct sfb_recorder_event){ .fd = -1, .tid = tid, .first = first };
    if (events->count >= events->limit) {
        errno = EMFILE;
        return false;
    }
    out->fd = open_event(events, tid, first);
    if (out->fd < 0)
        return false;
    out->once = first < events->period / SHORT_PART;
    sfb_recorder_task_cpu(tid, &out->base);
    events->count++;
    return true;
}

void sfb_recorder_event_enable(const struct sfb_recorder_event *event)
{
    if (event->once)
        ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1);
    else
        ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static bool read_count(const struct sfb_recorder_event *event, uint64_t *out)
{
    return event->fd >= 0 && read(event->fd, out, sizeof *out) == (ssize_t)sizeof *out;
}

void sfb_recorder_event_settle(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event)
{
    uint64_t period = events->period, count;

    if (event->fd < 0 || event->first == 0 || !read_count(event, &count) || count < event->first)
        return;
    if (ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period) != 0)
        return;
    event->first = 0;
    if (!event->once)
        return;
    /* It has not counted since. */
    if (sfb_recorder_task_cpu(event->tid, &event->base))
        event->base -= count;
    ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
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
