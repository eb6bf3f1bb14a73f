/*
 * Perf events of other processes, whose records carry registers and a part of the stack; and the rings, one for each
 * CPU, that the kernel writes them to. Nothing is written into those processes, and no signal is sent.
 *
 * A ring belongs to an event of this program that never counts: so it outlives all that is watched, and its poll() says
 * nothing but that there is something to read.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_RINGS_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_RINGS_H

#include <sys/types.h>

#include "profiler/collector/outside/perf_record.h"
#include "util/array.h"

/* Bytes of a copied stack: a sample has 16 bits for its size. */
enum { PERF_STACK_LEAST = 8 << 10, PERF_STACK_SWITCH = 8 << 10, PERF_STACK_MOST = 65528 - 1024 };

struct perf_ring {
    int fd, cpu;
    void *memory; /* a page of control, and the data */
    size_t size;  /* of the data: a power of two */
};

struct perf_batch_entry {
    uint64_t time;
    size_t offset; /* of the record */
};

struct perf_rings {
    REPORT_ARRAY(struct perf_ring) rings;
    REPORT_ARRAY(int) events;
    size_t enabled;              /* of them */
    struct perf_event_attr attr; /* of the next events */
    struct perf_layout layout;   /* of their records */
    bool counts;                 /* samples have the count of their event */
    bool
        bounded; /* what comes while records are taken waits in the rings: a flood of them would be copied as it comes */
    size_t limit;     /* of descriptors */
    uint64_t refused; /* events that had no descriptor, or no rights */

    uint8_t *bytes; /* taken from the rings, and not yet given */
    size_t size, room;
    REPORT_ARRAY(struct perf_batch_entry) entries;
};

struct perf_rings_options {
    uint32_t rate_hz;
    bool all;         /* events of CPUs, and not of threads */
    bool user_only;   /* also where kernel time is allowed */
    bool no_children; /* threads alone are inherited */
    bool switches;    /* records of when threads stop running, and go on */
    bool stacks;      /* of switches: there is room for events of another kind, with stacks */
    uint64_t
        most; /* bytes of a ring; 0: what the rate needs. Less where locked memory is limited */
};

/*
 * Makes the rings.
 *
 * @param out  to be closed in any case
 * @return NULL, or the call that failed: errno says why
 */
const char *perf_rings_open(struct perf_rings *out, const struct perf_rings_options *how);

/* @return bytes of a copied stack at most: a ring has room for some samples */
uint32_t perf_rings_stack_most(const struct perf_rings *rings);

/*
 * Opens the events of a thread, which its children inherit: one for each CPU, disabled.
 *
 * @param tid  -1: one event per CPU, of all processes
 * @return false: it has ended, or they are refused, and errno says why
 */
bool perf_rings_watch(struct perf_rings *rings, pid_t tid);

/*
 * Opens events of another kind into the same rings, one for each CPU. They are the caller's, and no part of the limit.
 *
 * @param attr  with the rings' own sample_type
 * @param fds   written: as many as there are rings
 * @return false: none is open, and errno says why
 */
bool perf_rings_open_on(const struct perf_rings *rings, struct perf_event_attr *attr, pid_t tid,
                        int *fds);

/* The same of one ring. @return -1: errno says why */
int perf_rings_open_one(const struct perf_rings *rings, struct perf_event_attr *attr, pid_t tid,
                        size_t ring);

/* Lets those count that do not yet. */
void perf_rings_enable(struct perf_rings *rings);

/*
 * Takes the place of all events by others, that are to be opened anew.
 *
 * @param stack   bytes of a copy
 * @param period  in ns
 */
void perf_rings_change(struct perf_rings *rings, uint32_t stack, uint64_t period);

/* Waits until a ring is a quarter full, or for so many ms. */
void perf_rings_wait(const struct perf_rings *rings, int ms);

/* Makes room in the rings. The records are kept. @return false: no memory */
bool perf_rings_empty(struct perf_rings *rings);

/*
 * Drains the rings, and gives the records by time. Records of the time since this call began are held back: an older one
 * may be in a ring that was read before.
 *
 * @param now   CLOCK_MONOTONIC, when it is called; UINT64_MAX: the last call, which gives all
 * @param take  @return false: no more
 * @return false: as take(), or no memory
 */
bool perf_rings_take(struct perf_rings *rings, uint64_t now,
                     bool (*take)(void *user, const struct perf_record *record,
                                  const struct perf_ids *ids),
                     void *user);

void perf_rings_close(struct perf_rings *rings);

#endif
