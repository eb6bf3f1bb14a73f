/*
 * Records processes that run already, by perf events of this program: `sfb record --pid`. Nothing is written into them,
 * and no signal is sent.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ATTACH_H
#define PROFILER_COLLECTOR_OUTSIDE_ATTACH_H

#include <sys/types.h>

#include "profiler/collector/outside/outside.h"

struct attach; /* opaque */

struct attach_options {
    pid_t pid;        /* 0: all processes of this user; for root all of the machine */
    bool starts;      /* the process executes its program after attach_begin() */
    bool no_children; /* not what it starts, nor has started */
    bool looks;       /* no perf events: looks at threads that run, looks.h */
    uint32_t wall_hz; /* waits are recorded, by so many looks a second; 0: they are not */
    bool no_switches; /* waits by looks alone, also where switch records are allowed */
    bool user_only;   /* without the kernel's time, also where that is allowed */
    uint32_t rate_hz;
};

struct attach_state {
    uint64_t raised;    /* execs of set-user-ID programs, at which the kernel ended the events */
    uint64_t stops;     /* of threads, by looks */
    uint64_t rounds;    /* of looks */
    uint64_t skipped;   /* processes that were not looked at: no descriptor */
    uint64_t unread;    /* threads that lack a part of their time: no descriptor */
    uint64_t unseen;    /* processes that came and went between looks, about */
    uint64_t lost;      /* switch records */
    bool switches;      /* waits have their exact time, by switch records */
    bool stacks;        /* and their place, by samples of context switches */
    bool wakers;        /* and what ended them */
    uint64_t by_looks;  /* threads at one time that waited too often for records of it */
    uint64_t no_events; /* threads at one time that lacked a descriptor for it, or rights */
    uint32_t engine;    /* enum sfb_recording_engine */
    uint32_t rate_hz;   /* as it is now */
    uint32_t stack;     /* bytes of a copy, as it is now */
    uint32_t slowed;    /* how often the rate was lowered */
    uint64_t refused;   /* threads without an event: no rights, or no descriptor */
    uint64_t events;    /* descriptors */
    const char *
        python; /* an interpreter whose functions looks can read, and events cannot; "": not seen */
};

/*
 * Opens the events, which do not count yet. Where the kernel refuses events, running threads are looked at.
 *
 * @param why  written: what the kernel refused; "": nothing
 * @return NULL: neither can be had
 */
struct attach *attach_open(const struct attach_options *options, char *why, size_t room);

/* As it is chosen, before anything is recorded. */
struct attach_state attach_state(const struct attach *attach);

/*
 * Begins.
 *
 * @param writer  of the recording, which has just begun; borrowed
 * @return false: no memory, or the process has ended
 */
bool attach_begin(struct attach *attach, struct sfb_recording_writer *writer);

/* Waits 15 ms at most, and takes what came. @return false: the recording cannot be written, or no memory */
bool attach_take(struct attach *attach);

/*
 * Pauses, or goes on, after attach_begin(). Processes are followed meanwhile; nothing is written of it.
 *
 * @return false: the recording cannot be written, or no memory
 */
bool attach_pause(struct attach *attach, bool paused);

/* Whether the process that was asked for has ended. */
bool attach_has_ended(const struct attach *attach);

/* Whether a process is recorded now. */
bool attach_knows(const struct attach *attach, pid_t pid);

/* The same as outside_totals(). */
const struct outside_totals *attach_totals(const struct attach *attach);

/*
 * Takes the last records, and ends.
 *
 * @param totals  written
 * @return false: the recording could not be written
 */
bool attach_end(struct attach *attach, struct outside_totals *totals);

void attach_close(struct attach *attach);

#endif
