/*
 * Finds processes that have just come, where no event reports them. The kernel counts numbers of processes and threads up, and says which one it
 * gave last (/proc/loadavg): one small read per look. Only where that has changed, the numbers since are looked up.
 *
 * Searches and introductions have a share of a CPU each. What comes and goes meanwhile is counted.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ARRIVALS_H
#define PROFILER_COLLECTOR_OUTSIDE_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/array.h"

enum { ARRIVALS_COMING = 32 };

struct looks;

/* A process that is not introduced yet. */
struct arrival {
    pid_t pid;
    uint64_t since;   /* CLOCK_MONOTONIC: it had not come by then */
    uint64_t started; /* in ticks after boot: its number may come again while it waits */
};

struct arrivals {
    int file; /* /proc/loadavg; -1: it does not say the last number */
    pid_t last;
    uint64_t read_at; /* CLOCK_MONOTONIC, when that was read */
    uint64_t search;  /* CLOCK_MONOTONIC: no search before */
    uint64_t paid;    /* CLOCK_MONOTONIC, up to which the share of introductions is used */
    uint64_t judge;   /* CLOCK_MONOTONIC: `passed` is not judged before */
    pid_t coming[ARRIVALS_COMING]; /* numbers that had no process yet */
    size_t coming_count;
    REPORT_ARRAY(struct arrival) waiting;
    bool too_many;   /* numbers for a search: processes are to be listed */
    uint64_t passed; /* numbers that had no process any more */
    uint64_t unseen;
};

/* Later processes are new. */
void arrivals_open(struct arrivals *out);

/* Whether the kernel says the last number, in the PID namespace of /proc. */
bool arrivals_are_known(const struct arrivals *arrivals);

/*
 * Searches, and introduces processes to be looked at.
 *
 * @param all  each process of this user, of root each one; else children of processes that are looked at
 * @return false: no memory
 */
bool arrivals_take(struct arrivals *arrivals, struct looks *looks, bool all);

/* Whether there were too many for a search since the last call: then a list finds processes that still live. */
bool arrivals_missed(struct arrivals *arrivals);

/*
 * About how many processes came and went unseen. A number may have been a thread's, or of another program's child: such numbers count if a process
 * that is looked at has waited meanwhile for a child that was not looked at.
 */
uint64_t arrivals_unseen(const struct arrivals *arrivals);

void arrivals_close(struct arrivals *arrivals);

#endif
