/* A recording of a heap that a test writes: each figure in it is known. */
#ifndef TESTS_REPORT_MADE_HEAP_H
#define TESTS_REPORT_MADE_HEAP_H

#include "profiler/tests/report/made.h"

/* What of it is written. */
struct made_heap {
    uint32_t flags;
    uint64_t rate;
    bool events, totals;
    bool lost;   /* at 1 s: 7 events */
    bool paused; /* from 1.6 s to 1.7 s */
    bool
        allocator; /* states have what the allocator says: 4 MiB held, 1 MiB in use, and less at the end */
    bool grown; /* the block of report_outer() is of 8192 bytes, not of 4096: for comparisons */
};

/*
 * Process 101 of 2.5 s with two threads, main (201) and worker (202). By time in s, block by block:
 *
 *     0.1  main    10 of 100 bytes      report_inner, called by report_outer twice
 *     0.2  main    2 of 4096            report_outer
 *     0.3  worker  5 of 1000            report_inner, called by report_outer twice: the peak, 14,192 bytes in 17
 *     0.5  main    frees one of 4096
 *     1.0  main    frees 5 of 1000
 *     1.2  main    1 of 100, and frees it: temporary
 *     1.5  main    3 of 200             report_inner, called by report_outer twice
 *
 * So 21 blocks of 14,892 bytes were allocated, and 14 of 5,696 live at the end.
 */
void made_heap_write(const struct made_heap *how, const char *reason);

/* Pieces of it. */
void made_heap_begin(uint32_t flags, uint64_t rate);
void made_heap_site(uint32_t id, uint32_t thread, uint32_t stack);
void made_heap_events(uint32_t site, uint64_t ms, uint64_t size, size_t count, bool freed);

#endif
