/* A run of a heap made at random, and what is true of it. */
#ifndef TESTS_REPORT_FORMATS_HEAP_RUN_H
#define TESTS_REPORT_FORMATS_HEAP_RUN_H

struct heap_truth {
    unsigned long allocations, allocated_bytes, temporary, live_blocks, live_bytes, peak_bytes;
};

/* Writes the recording: one thread, 20,000 events in 3 s. */
void heap_run_write(unsigned seed, struct heap_truth *truth);

#endif
