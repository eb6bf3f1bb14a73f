/* Threads of a recording that are of a pool, and wait nearly all of their time at one place. */
#ifndef PROFILER_REPORT_MODEL_IDLE_THREADS_H
#define PROFILER_REPORT_MODEL_IDLE_THREADS_H

#include "profiler/report/model/data.h"

struct report_idle_threads {
    uint32_t *waits; /* of each thread: its first wait at the place; REPORT_NONE: it is not idle */
    uint64_t *weights; /* of each: ns of its waits there */
    uint32_t *stacks;  /* of each stack: the first equal one of its process */
};

/*
 * @param wanted  of each thread, whether it counts; NULL: all do
 * @return false: no memory. Otherwise report_idle_threads_free() frees it
 */
bool report_idle_threads_find(struct report_idle_threads *out, const struct report_data *data,
                              const bool *wanted);

/* @return the stack of a wait by which its place is known; REPORT_NONE: none */
static inline uint32_t report_idle_stack(const struct report_idle_threads *threads,
                                         const struct report_wait *wait)
{
    return wait->stack == REPORT_NONE ? REPORT_NONE : threads->stacks[wait->stack];
}

void report_idle_threads_free(struct report_idle_threads *threads);

/* Idle threads that one that is idle stands for: in a merged recording several. */
static inline uint32_t report_idle_count(const struct report_thread *thread)
{
    return thread->idle > 1 ? thread->idle - 1 : 1;
}

#endif
