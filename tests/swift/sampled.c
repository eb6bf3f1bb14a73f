/*
 * Samples of the thread of Swift's that runs fib(), by a timer, with asynchronous frames. At the program's end SAMPLES has a line for each: how deep
 * fib() was, why the walk ended, and the CBF.
 */
#include <errno.h>
#include <sframe_backtrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 10000, BYTES = 500 };

static struct {
    int depth, end, size;
    unsigned char cbf[BYTES];
} samples[SAMPLES];
static volatile int count, depth;

static void sample(int number, siginfo_t *siginfo, void *context)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    const int error = errno;
    const int i = count;

    (void)number;
    (void)siginfo;
    if (i == SAMPLES)
        return;
    options.flags = SFRAME_BACKTRACE_ASYNC;
    options.context = context;
    samples[i].depth = depth;
    samples[i].size = (int)sframe_backtrace_cbf(samples[i].cbf, BYTES, &options, &info);
    samples[i].end = info.end;
    count = i + 1;
    errno = error;
}

static timer_t timer;

static void write_samples(void)
{
    FILE *file = fopen("SAMPLES", "w"), *maps = fopen("/proc/self/maps", "r"),
         *copy = fopen("MAPS", "w");
    char line[4096];

    timer_delete(timer);
    for (int i = 0; file && i < count; i++) {
        fprintf(file, "%d %d ", samples[i].depth, samples[i].end);
        for (int k = 0; k < samples[i].size; k++)
            fprintf(file, "%02x", samples[i].cbf[k]);
        fputc('\n', file);
    }
    while (maps && copy && fgets(line, sizeof line, maps))
        fputs(line, copy);
    if (!file || !maps || !copy || fclose(file) != 0 || fclose(copy) != 0)
        perror("SAMPLES");
}

/* fib() is never suspended: its thread stays. */
static void start(void)
{
    const struct itimerspec often = { .it_interval = { 0, 50000 }, .it_value = { 0, 50000 } };
    struct sigaction action = { .sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigaction(SIGPROF, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || atexit(write_samples) != 0)
        perror("timer_create");
    timer_settime(timer, 0, &often, NULL);
}

void sample_depth(int change)
{
    static int started;

    if (!started) {
        started = 1;
        start();
    }
    depth += change;
}
