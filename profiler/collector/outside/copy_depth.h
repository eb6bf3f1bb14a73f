/*
 * Whether copies of stacks are large enough: of each thread, for one deep thread of many is a small part of all samples.
 * A copy has 8, 16, 32 or 64 KiB; the size is that of all threads whose events are opened together.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_COPY_DEPTH_H
#define PROFILER_COLLECTOR_OUTSIDE_COPY_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

#include "util/array.h"
#include "util/index.h"

/* Samples since the copies have their size. */
struct copy_thread {
    uint32_t samples, cut;
};

struct copy_depth {
    REPORT_ARRAY(struct copy_thread) threads;
    struct report_index tids;
    uint32_t samples, cut; /* of all threads */
    bool short_of;         /* of a thread one stack of twenty is longer than its copy */
    uint64_t calm;         /* CLOCK_MONOTONIC: when a stack was cut, or the size changed */
    uint64_t
        patience; /* ns without a cut stack, after which copies are made smaller; 0: the first time */
    bool lowered;
};

/* Notes a sample. @param cut  its stack is longer than its copy */
void copy_depth_note(struct copy_depth *depth, uint32_t tid, bool cut, uint64_t now);

/*
 * @param size  of the copies, in bytes
 * @param most  that they may have
 * @return the size that they should have
 */
uint32_t copy_depth_wanted(const struct copy_depth *depth, uint32_t size, uint32_t most,
                           uint64_t now);

/* The copies have another size from now on. */
void copy_depth_change(struct copy_depth *depth, bool larger, uint64_t now);

void copy_depth_free(struct copy_depth *depth);

#endif
