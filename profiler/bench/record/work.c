/*
 * A fixed amount of work at the bottom of some frames, for profiler/bench/record/run.
 *
 *     work MILLIONS DEPTH [perf|timer HZ | inside]
 *
 * With an engine it sends itself the signals that `sfb record` would have it sent, to a handler that only counts them.
 * With "inside" it puts a clock around the handler of SIGPROF that it finds: the agent's.
 *
 * Prints: CPU seconds of the work, signals counted, the median of interruptions in ns, how many there were, the median
 * of the handler's time in ns. An interruption is what a part of the work took more than such parts do: a signal from
 * its interrupt to the return from its handler. The kernel's ticks are among them.
 */
#include <dlfcn.h>
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

/* Of durations. What is longer than all of it, as when the hypervisor ran another machine, is in the last one. */
enum { NS_A_BIN = 10, BINS = 10000 };

struct durations {
    uint64_t count;
    uint32_t bins[BINS + 1];
};

static void durations_add(struct durations *d, uint64_t ns)
{
    d->count++;
    d->bins[ns / NS_A_BIN < BINS ? ns / NS_A_BIN : BINS]++;
}

/* @return 0: there are none */
static uint64_t durations_median(const struct durations *d)
{
    uint64_t seen = 0;

    for (unsigned i = 0; i <= BINS; i++)
        if ((seen += d->bins[i]) * 2 > d->count)
            return (uint64_t)i * NS_A_BIN + NS_A_BIN / 2;
    return 0;
}

static struct durations interruptions, inside, again;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- handlers ----------------------------------------------------------------------------------- */

static volatile uint64_t signals;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    signals = signals + 1;
}

static struct sigaction found;

static void measure_once(struct durations *d, int number, siginfo_t *info, void *context)
{
    uint64_t start = now();

    found.sa_sigaction(number, info, context);
    durations_add(d, now() - start);
}

/*
 * As it comes: after an interrupt, which takes caches with it, the hypervisor's part most of all. Then again, at once.
 * The clock is read once more than the handler takes: 20 to 40 ns too much.
 */
static void measure(int number, siginfo_t *info, void *context)
{
    measure_once(&inside, number, info, context);
    measure_once(&again, number, info, context);
}

/* By the C library's own function: the agent's stands before it, and hides its handler. */
static int measure_inside(void)
{
    static void *libc; /* never closed */
    int (*set)(int, const struct sigaction *, struct sigaction *);
    struct sigaction action;

    libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!libc)
        return -1;
    *(void **)&set = dlsym(libc, "sigaction");
    if (!set || set(SIGPROF, NULL, &found) != 0 || !(found.sa_flags & SA_SIGINFO))
        return -1;
    action = found;
    action.sa_sigaction = measure;
    return set(SIGPROF, &action, NULL);
}

/* --- the work ----------------------------------------------------------------------------------- */

enum { STEPS = 256, PARTS_FIRST = 1000 };

static uint64_t part(uint64_t x)
{
    for (unsigned i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/* @return what a part takes if nothing comes between */
static uint64_t shortest_part(uint64_t *x)
{
    uint64_t shortest = UINT64_MAX, before = now(), after;

    for (unsigned i = 0; i < PARTS_FIRST; i++, before = after) {
        *x = part(*x);
        after = now();
        if (after - before < shortest)
            shortest = after - before;
    }
    return shortest;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the caller says */
__attribute__((noinline)) static uint64_t work(uint64_t millions, unsigned depth)
{
    uint64_t x = millions + 1, shortest, before, after;

    if (depth > 1)
        return work(millions, depth - 1) + 1; /* no tail call: each level is a frame */
    shortest = shortest_part(&x);
    before = now();
    for (uint64_t i = 0; i < millions * 1000000 / STEPS; i++, before = after) {
        x = part(x);
        after = now();
        if (after - before > 2 * shortest)
            durations_add(&interruptions, after - before - shortest);
    }
    return x;
}

/* --- engines ------------------------------------------------------------------------------------ */

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

static int start(const char *engine, const char *hz)
{
    const struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART };
    const uint64_t period = 1000000000 / strtoull(hz, NULL, 10);

    if (sigaction(SIGPROF, &action, NULL) != 0)
        return -1;
    return strcmp(engine, "perf") == 0 ? start_perf(period) : start_timer(period);
}

int main(int argc, char **argv)
{
    double begin;
    uint64_t x;

    if (argc < 3 || argc > 5 || (argc == 4 && strcmp(argv[3], "inside") != 0))
        return 2;
    if ((argc == 4 && measure_inside() != 0) || (argc == 5 && start(argv[3], argv[4]) != 0)) {
        perror(argv[3]);
        return 77;
    }
    begin = cpu();
    x = work(strtoull(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10));
    printf("cpu %.9f signals %" PRIu64 " interruption %" PRIu64 " of %" PRIu64 " inside %" PRIu64
           " again %" PRIu64 " %u\n",
           cpu() - begin, signals, durations_median(&interruptions), interruptions.count,
           durations_median(&inside), durations_median(&again), (unsigned)(x & 1));
    return 0;
}
