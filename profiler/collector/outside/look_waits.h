/*
 * Where threads wait, by looks. A thread that sleeps is never stopped. One that has not run since the last look costs one
 * read.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_WAITS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_WAITS_H

#include "profiler/collector/outside/looks_state.h"

/* Begins to divide the time of a thread. @param since  CLOCK_MONOTONIC, when it began; 0: now */
void look_wait_begin(const struct look_process *process, struct look_thread *thread,
                     uint64_t since);

/*
 * Whether a thread has not run since the last look, or has ended: there is nothing to look at.
 *
 * @param good  written; false: the recording cannot be written, or no memory
 */
bool look_wait_goes_on(struct looks *looks, struct look_process *process,
                       struct look_thread *thread, bool *good);

/* In place of a state's letter: the thread lives, and there is no descriptor to read its state now. */
enum { LOOK_UNREAD = '?' };

/* Looks at a thread that has run. @param letter  its state, of proc(5), or as above. @return false: as above */
bool look_wait_take(struct looks *looks, struct look_process *process, struct look_thread *thread,
                    char letter);

/* Divides the time of a thread up to now, for the last time: what is recorded after that takes time of its own. */
void look_wait_close(struct looks *looks, const struct look_process *process,
                     struct look_thread *thread);

/* Records were lost: when its wait began holds if it has not run since then. */
void look_wait_doubt(struct look_thread *thread);

/* Records say from now on when it waits, or no longer do: look_is_exact(). @return false: as above */
bool look_wait_change(struct looks *looks, const struct look_process *process,
                      struct look_thread *thread);

/* Records the time of a thread that was divided so far. @return false: as above */
bool look_wait_put(struct looks *looks, const struct look_process *process,
                   struct look_thread *thread);

/* Records what is left of the time of a thread: before it or its program ends. @return false: as above */
bool look_wait_end(struct looks *looks, const struct look_process *process,
                   struct look_thread *thread);

#endif
