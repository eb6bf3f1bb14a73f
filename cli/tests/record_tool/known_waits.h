/* Known waits: what programs of tests share whose threads wait at places, and log for how long. */
#ifndef RECORD_TOOL_KNOWN_WAITS_H
#define RECORD_TOOL_KNOWN_WAITS_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct place {
    const char *name;
    void (*wait)(void);
    uint64_t ns, queued_ns;
    unsigned count;
};

static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* ns that this thread has waited for a CPU. */
static inline uint64_t queued_ns(int schedstat)
{
    char text[64] = "";
    char *at;

    if (pread(schedstat, text, sizeof text - 1, 0) <= 0)
        return 0;
    strtoull(text, &at, 10);
    return strtoull(at, NULL, 10);
}

/* Both as of one moment: else a thread that loses the CPU in between has that time in one of them alone. */
static inline uint64_t now_with_queued(int schedstat, uint64_t *queued)
{
    enum { TRIES = 100 };
    uint64_t now = now_ns();

    for (unsigned i = 0; i < TRIES; i++) {
        *queued = queued_ns(schedstat);
        if (now_ns() - now < 100000)
            break;
        now = now_ns();
    }
    return now;
}

/* One wait. @param schedstat  descriptor of this thread's */
static inline void place_wait_once(struct place *place, int schedstat)
{
    uint64_t queued, queued_before;
    const uint64_t before = now_with_queued(schedstat, &queued_before);

    place->wait();
    place->ns += now_with_queued(schedstat, &queued) - before;
    place->queued_ns += queued - queued_before;
    place->count++;
}

/* @param mode  "w": it is made. @return NULL: there is none */
static inline FILE *open_in(const char *folder, const char *name, const char *mode)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, mode);
}

static inline int make_file(const char *folder, const char *name)
{
    FILE *file = open_in(folder, name, "w");

    return file && fclose(file) == 0;
}

static inline void wait_for_file(const char *folder, const char *name)
{
    FILE *file;

    while (!(file = open_in(folder, name, "r")))
        pause_ms(2);
    fclose(file);
}

/* A line of the log. */
static inline void log_place(FILE *log, const struct place *place)
{
    fprintf(log, "%s %llu %u\n", place->name, (unsigned long long)(place->ns - place->queued_ns),
            place->count);
}

#endif
