/*
 * A fixed amount of work at the bottom of some frames, for bench/record/run: prints the CPU time that it took.
 *
 *     work MILLIONS DEPTH [perf|timer HZ]
 *
 * With an engine it sends itself the signals that `sfb record` would have it sent, to a handler that only counts them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile uint64_t signals;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    signals = signals + 1;
}

static uint64_t step(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

__attribute__((noinline)) static uint64_t work(uint64_t millions, unsigned depth)
{
    uint64_t x = millions + 1;

    if (depth > 1)
        return work(millions, depth - 1) + 1; /* no tail call: each level is a frame */
    for (uint64_t i = 0; i < millions * 1000000; i++)
        x = step(x);
    return x;
}

static int start_perf(uint64_t period)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof attr,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .sample_period = period,
                                    .exclude_hv = 1,
                                    .disabled = 1,
                                    .wakeup_events = 1 };
    const struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 || fcntl(fd, F_SETSIG, SIGPROF) != 0 ||
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0)
        return -1;
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int start_timer(uint64_t period)
{
    const struct itimerspec each = { { 0, (long)period }, { 0, (long)period } };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    timer_t timer;

    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0
               ? -1
               : timer_settime(timer, 0, &each, NULL);
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART };
    double start;
    uint64_t x;

    if (argc != 3 && argc != 5)
        return 2;
    if (argc == 5) {
        const uint64_t period = 1000000000 / strtoull(argv[4], NULL, 10);

        sigaction(SIGPROF, &action, NULL);
        if ((strcmp(argv[3], "perf") == 0 ? start_perf(period) : start_timer(period)) != 0) {
            perror(argv[3]);
            return 77;
        }
    }
    start = cpu();
    x = work(strtoull(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10));
    printf("cpu %.9f signals %" PRIu64 " %u\n", cpu() - start, signals, (unsigned)(x & 1));
    return 0;
}
