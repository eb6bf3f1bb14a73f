/*
 * Known contention: four threads work under one lock, one of them longer than the others; two more take turns in another lock of
 * a structure. Each thread measures how long it waits: LOCK, ns and waits, for waits of more than 25 ms and all others.
 *
 *     locks_program FOLDER: makes FOLDER/ready, begins at FOLDER/go, and writes FOLDER/log after a hundred waits
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, LOCKS = 2, WAITS = 100 };

struct service {
    char name[24];
    pthread_mutex_t lock;
};

pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
struct service known_service = { "service", PTHREAD_MUTEX_INITIALIZER };

struct sums {
    uint64_t long_ns, long_waits, other_ns;
} __attribute__((aligned(64)));

static struct sums sums[THREADS];
static const char *folder;
static volatile int stopped;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int exists(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
}

static void take(pthread_mutex_t *lock, struct sums *own)
{
    const uint64_t before = now_ns();
    uint64_t passed;

    pthread_mutex_lock(lock);
    passed = now_ns() - before;
    if (passed > 25000000) {
        own->long_ns += passed;
        __atomic_fetch_add(&own->long_waits, 1, __ATOMIC_RELAXED);
    } else {
        own->other_ns += passed;
    }
}

__attribute__((noinline)) static void hold_long(struct sums *own)
{
    take(&known_lock, own);
    sleep_ms(60);
    pthread_mutex_unlock(&known_lock);
    sleep_ms(5);
}

__attribute__((noinline)) static void hold_short(struct sums *own)
{
    take(&known_lock, own);
    sleep_ms(30);
    pthread_mutex_unlock(&known_lock);
    sleep_ms(5);
}

__attribute__((noinline)) static void hold_service(struct sums *own)
{
    take(&known_service.lock, own);
    sleep_ms(50);
    pthread_mutex_unlock(&known_service.lock);
    sleep_ms(10);
}

static void *run(void *argument)
{
    struct sums *own = argument;
    const size_t number = (size_t)(own - sums);

    while (!stopped) {
        if (number == 0)
            hold_long(own);
        else if (number < 4)
            hold_short(own);
        else
            hold_service(own);
    }
    return NULL;
}

static uint64_t count_waits(void)
{
    uint64_t count = 0;

    for (size_t i = 0; i < THREADS; i++)
        count += __atomic_load_n(&sums[i].long_waits, __ATOMIC_RELAXED);
    return count;
}

static void write_log(void)
{
    static const char *const names[LOCKS] = { "known_lock", "known_service" };
    struct sums of[LOCKS] = { { 0, 0, 0 } };
    char path[512];
    FILE *log;

    for (size_t i = 0; i < THREADS; i++) {
        struct sums *to = &of[i >= 4];

        to->long_ns += sums[i].long_ns;
        to->long_waits += sums[i].long_waits;
        to->other_ns += sums[i].other_ns;
    }
    snprintf(path, sizeof path, "%s/log", folder);
    log = fopen(path, "w");
    if (!log)
        exit(1);
    for (size_t i = 0; i < LOCKS; i++)
        fprintf(log, "%s %llu %llu %llu\n", names[i], (unsigned long long)of[i].long_ns,
                (unsigned long long)of[i].long_waits, (unsigned long long)of[i].other_ns);
    fclose(log);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char path[512];

    folder = argc == 2 ? argv[1] : ".";
    snprintf(path, sizeof path, "%s/ready", folder);
    mkdir(path, 0700);
    while (!exists("go"))
        sleep_ms(5);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, &sums[i]) != 0)
            return 1;
    while (count_waits() < WAITS)
        sleep_ms(5);
    stopped = 1;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    write_log();
    return 0;
}
