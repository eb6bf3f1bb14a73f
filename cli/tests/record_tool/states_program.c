/*
 * Known states: states_program FOLDER THREADS. So many threads (one: the first of the process alone) wait at seven places by
 * chance, each time for 40 to 80 ms, and use CPU time in between. Every wait ends by its own timeout: one thread needs no other one.
 * Threads begin and end in waits of their own, place_before() and place_after(): what a recording has without these is what a thread's
 * clocks say. FOLDER/go and FOLDER/stop are pipes: the program goes on when they are opened for writing. It writes FOLDER/log:
 *
 *     place NAME NS COUNT RUNNABLE   waits of all threads there, without the ns in which the thread was runnable
 *     thread NAME WALL CPU RUNNABLE EARLY_CPU EARLY_RUNNABLE WOKEN_RUNNABLE EARLY_WALL
 *
 * These are ns between both waits; what was before the end of the first one; of that, since its beginning; and what its beginning took.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "known_waits.h"

enum { THREADS_MOST = 64, PLACES = 7, WAITS = 30, WAIT_MS = 40, VARIES_MS = 40 };

/* Iterations of work() after each wait, and after some of them. Threads meet at the CPUs in these. */
enum { SHORT = 50000, LONG = 2000000, LONG_EVERY = 7 };

struct worker {
    struct place places[PLACES];
    char name[16];
    uint64_t wall, cpu, queued, early_cpu, early_queued, woken_queued, early_wall;
    uint64_t created; /* CLOCK_MONOTONIC */
};

static struct worker workers[THREADS_MOST];
static const char *folder;
static pthread_barrier_t go_on;
static sem_t ended;
static volatile uint64_t sink;

/* What a thread waits at is its own. */
static _Thread_local long wait_ns;
static _Thread_local pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER,
                                     cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local pthread_cond_t own_cond = PTHREAD_COND_INITIALIZER;
static _Thread_local sem_t own_semaphore;
static _Thread_local int sockets[2], timer;
static _Thread_local uint64_t seed;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct timespec until(void)
{
    const uint64_t end = clock_ns(CLOCK_REALTIME) + (uint64_t)wait_ns;

    return (struct timespec){ .tv_sec = (time_t)(end / 1000000000),
                              .tv_nsec = (long)(end % 1000000000) };
}

/* --- Places ------------------------------------------------------------------------------------------ */

__attribute__((noinline)) static void place_mutex(void)
{
    const struct timespec end = until();

    sink += (uint64_t)pthread_mutex_timedlock(&own_mutex, &end); /* which the thread has itself */
}

__attribute__((noinline)) static void place_cond(void)
{
    const struct timespec end = until();

    pthread_mutex_lock(&cond_mutex);
    while (pthread_cond_timedwait(&own_cond, &cond_mutex, &end) == 0)
        sink++;
    pthread_mutex_unlock(&cond_mutex);
}

__attribute__((noinline)) static void place_semaphore(void)
{
    const struct timespec end = until();

    sink += (uint64_t)sem_timedwait(&own_semaphore, &end);
}

__attribute__((noinline)) static void place_socket(void)
{
    const struct timeval most = { .tv_usec = wait_ns / 1000 };
    char byte;

    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    sink += (uint64_t)recv(sockets[0], &byte, 1, 0);
}

__attribute__((noinline)) static void place_timer(void)
{
    const struct itimerspec once = { .it_value = { .tv_nsec = wait_ns } };
    uint64_t expired;

    timerfd_settime(timer, 0, &once, NULL);
    sink += (uint64_t)read(timer, &expired, sizeof expired);
}

__attribute__((noinline)) static void place_poll(void)
{
    struct pollfd event = { .fd = sockets[0], .events = POLLIN };

    sink += (uint64_t)poll(&event, 1, (int)(wait_ns / 1000000));
}

__attribute__((noinline)) static void place_sleep(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = wait_ns }, NULL);
    sink++;
}

static const struct place all_places[PLACES] = {
    { "mutex", place_mutex, 0, 0, 0 },         { "cond", place_cond, 0, 0, 0 },
    { "semaphore", place_semaphore, 0, 0, 0 }, { "socket", place_socket, 0, 0, 0 },
    { "timer", place_timer, 0, 0, 0 },         { "poll", place_poll, 0, 0, 0 },
    { "sleep", place_sleep, 0, 0, 0 },
};

/* --- A thread ---------------------------------------------------------------------------------------- */

static uint64_t random_next(void)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return seed >> 33;
}

__attribute__((noinline)) static void work(unsigned iterations)
{
    for (unsigned i = 0; i < iterations; i++)
        sink = sink * 25214903917 + 11;
}

/* Waits until the pipe is opened for writing. */
__attribute__((noinline)) static void wait_for_pipe(const char *name)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        exit(2);
    close(fd);
}

__attribute__((noinline)) static void place_before(bool alone)
{
    if (alone)
        wait_for_pipe("go");
    else
        pthread_barrier_wait(&go_on);
    sink++;
}

__attribute__((noinline)) static void place_after(void)
{
    for (;;)
        pause();
}

static void prepare(struct worker *w)
{
    seed = (uint64_t)(w - workers) + 1;
    pthread_setname_np(pthread_self(), w->name);
    memcpy(w->places, all_places, sizeof all_places);
    pthread_mutex_lock(&own_mutex);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (timer < 0 || sem_init(&own_semaphore, 0, 0) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        exit(2);
}

/*
 * Linux 6.12 and later count some sleep as time in the queue, up to a whole wait of a few in a thousand: they dequeue a thread late, which
 * then changes CPUs. A wait lasts for wait_ns at least, or poll()'s milliseconds: what is left was runnable at most.
 *
 * @return ns that schedstat counts too much
 */
static uint64_t wait_at(struct place *place, int schedstat)
{
    const uint64_t ns = place->ns, queued = place->queued_ns;
    const uint64_t least = (uint64_t)wait_ns / 1000000 * 1000000;
    uint64_t most;

    place_wait_once(place, schedstat);
    most = place->ns - ns > least ? place->ns - ns - least : 0;
    if (place->queued_ns - queued <= most)
        return 0;
    most = place->queued_ns - queued - most;
    place->queued_ns -= most;
    return most;
}

static void run_waits(struct worker *w, bool alone)
{
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    uint64_t began, slept = 0;

    prepare(w);
    w->woken_queued = queued_ns(schedstat);
    w->early_wall = now_ns() - w->created;
    place_before(alone);
    w->early_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    began = now_with_queued(schedstat, &w->early_queued);
    w->woken_queued = w->early_queued - w->woken_queued;
    for (size_t i = 0; i < WAITS; i++) {
        wait_ns = (long)(WAIT_MS + random_next() % (VARIES_MS + 1)) * 1000000;
        slept += wait_at(&w->places[random_next() % PLACES], schedstat);
        work(i % LONG_EVERY == 0 ? LONG : SHORT);
    }
    w->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->early_cpu;
    w->wall = now_with_queued(schedstat, &w->queued) - began;
    w->queued -= w->early_queued + slept;
}

static void *run(void *worker)
{
    run_waits(worker, false);
    sem_post(&ended);
    place_after();
    return NULL;
}

static void write_log(size_t threads)
{
    FILE *file = open_in(folder, "log", "w");

    if (!file)
        exit(2);
    for (size_t i = 0; i < PLACES; i++) {
        struct place sum = all_places[i];

        for (size_t k = 0; k < threads; k++) {
            sum.ns += workers[k].places[i].ns;
            sum.queued_ns += workers[k].places[i].queued_ns;
            sum.count += workers[k].places[i].count;
        }
        fprintf(file, "place %s %llu %u %llu\n", sum.name,
                (unsigned long long)(sum.ns - sum.queued_ns), sum.count,
                (unsigned long long)sum.queued_ns);
    }
    for (const struct worker *w = workers; w < workers + threads; w++)
        fprintf(file, "thread %s %llu %llu %llu %llu %llu %llu %llu\n", w->name,
                (unsigned long long)w->wall, (unsigned long long)w->cpu,
                (unsigned long long)w->queued, (unsigned long long)w->early_cpu,
                (unsigned long long)w->early_queued, (unsigned long long)w->woken_queued,
                (unsigned long long)w->early_wall);
    if (fclose(file) != 0)
        exit(2);
}

static void make_pipe(const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (mkfifo(path, 0600) != 0)
        exit(2);
}

static void run_threads(size_t threads)
{
    pthread_t thread;

    if (sem_init(&ended, 0, 0) != 0 ||
        pthread_barrier_init(&go_on, NULL, (unsigned)threads + 1) != 0)
        exit(2);
    for (size_t i = 0; i < threads; i++) {
        workers[i].created = now_ns();
        if (pthread_create(&thread, NULL, run, &workers[i]) != 0)
            exit(2);
    }
    wait_for_pipe("go");
    pthread_barrier_wait(&go_on);
    for (size_t i = 0; i < threads; i++)
        while (sem_wait(&ended) != 0)
            continue;
}

int main(int argc, char **argv)
{
    const size_t threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

    if (threads < 1 || threads > THREADS_MOST)
        return 2;
    folder = argv[1];
    workers[0].created = now_ns();
    for (size_t i = 0; i < threads; i++)
        snprintf(workers[i].name, sizeof workers[i].name, "known%zu", i);
    make_pipe("go");
    make_pipe("stop");
    if (threads == 1)
        run_waits(&workers[0], true);
    else
        run_threads(threads);
    write_log(threads);
    wait_for_pipe("stop");
    return 0;
}
