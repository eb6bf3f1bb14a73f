/*
 * Fixed work for recorders to watch: ways_work MILLIONS MODE N.
 *
 *     frames N     at the bottom of N frames
 *     children N   by N child processes, one after the other
 *     threads N    by N threads at once
 *     waits N      at the bottom of N frames, while another thread waits in calls that a signal may end
 *
 * Three quarters of it are done by three_parts(), a quarter by one_part(). Prints: CPU seconds of all, the share of
 * three_parts() by the thread's own clock, and how many calls returned EINTR.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 100000, STACK = 256 << 10 };

/* Shared with children. */
struct sums {
    uint64_t three, one, interrupted;
};

static struct sums *sums;
static volatile unsigned spun;
static bool over;

static uint64_t used(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void three_parts(void)
{
    for (unsigned i = 0; i < 3 * UNIT; i++)
        spun += i;
}

static __attribute__((noinline)) void one_part(void)
{
    for (unsigned i = 0; i < UNIT; i++)
        spun += i ^ 1U;
}

static void work(uint64_t iterations)
{
    uint64_t three = 0, one = 0;

    for (uint64_t done = 0; done < iterations; done += 4ULL * UNIT) {
        const uint64_t begun = used();
        uint64_t middle;

        three_parts();
        middle = used();
        one_part();
        three += middle - begun;
        one += used() - middle;
    }
    __atomic_fetch_add(&sums->three, three, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums->one, one, __ATOMIC_RELAXED);
}

/* NOLINTNEXTLINE(misc-no-recursion): frames are what it is for */
static __attribute__((noinline)) unsigned descend(unsigned depth, uint64_t iterations)
{
    if (depth <= 1)
        work(iterations);
    else
        spun += descend(depth - 1, iterations);
    return depth;
}

static uint64_t each;

static void *thread(void *nothing)
{
    work(each);
    return nothing;
}

static bool do_threads(unsigned count)
{
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t small;
    bool good = threads != NULL;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (unsigned i = 0; good && i < count; i++)
        good = pthread_create(&threads[i], &small, thread, NULL) == 0;
    for (unsigned i = 0; good && i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return good;
}

static bool do_children(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const pid_t child = fork();

        if (child == 0) {
            work(each);
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return false;
    }
    return true;
}

static void note(int result)
{
    if (result < 0 && errno == EINTR)
        sums->interrupted++;
}

/* A recorder that samples waiting threads, or stops them, ends such calls. */
static void *waits(void *nothing)
{
    const struct timespec ms = { .tv_nsec = 1000000 };
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;

    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        note(epoll_wait(epoll, &event, 1, 1));
        note(poll(NULL, 0, 1));
        note(nanosleep(&ms, NULL));
    }
    close(epoll);
    return nothing;
}

static bool do_waits(unsigned depth, uint64_t iterations)
{
    pthread_t other;

    if (pthread_create(&other, NULL, waits, NULL) != 0)
        return false;
    descend(depth, iterations);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    return pthread_join(other, NULL) == 0;
}

static double seconds(int of)
{
    struct rusage u;

    getrusage(of, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
    const uint64_t iterations = argc > 3 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
    const unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    bool good = true;

    if (iterations == 0 || count == 0)
        return 2;
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sums == MAP_FAILED)
        return 3;
    each = iterations / count;
    if (strcmp(argv[2], "threads") == 0)
        good = do_threads(count);
    else if (strcmp(argv[2], "children") == 0)
        good = do_children(count);
    else if (strcmp(argv[2], "waits") == 0)
        good = do_waits(count, iterations);
    else
        descend(count, iterations);
    printf("%.6f %.6f %" PRIu64 "\n", seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN),
           (double)sums->three / (double)(sums->three + sums->one), sums->interrupted);
    return good ? 0 : 4;
}
