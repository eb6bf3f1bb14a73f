/*
 * Waits that have ended before any look has seen them. Their place is by the sample of their beginning, and their end is the
 * wake-up.
 *
 * A wake-up may have no record: the kernel writes none on a CPU that was idle, or the ring was full. Then the thread may have
 * waited for a CPU for a part of that time. Such a wait is recorded after the next reading of schedstat, which has that part.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_ENDED_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_ENDED_H

#include "profiler/collector/outside/looks_state.h"

/*
 * The present wait has ended.
 *
 * @param end  when it was woken up, or got a CPU
 * @param on   when it got a CPU
 * @return false: the recording cannot be written, or no memory
 */
bool look_ended_take(struct looks *looks, const struct look_process *process,
                     struct look_thread *thread, uint64_t end, uint64_t on);

/* A thread had no CPU for a time that has ended. @return false: as above */
bool look_ended_runnable(struct looks *looks, const struct look_process *process,
                         struct look_thread *thread, const struct outside_place *place,
                         uint64_t from, uint64_t to);

/*
 * The thread's time was divided just now: what of it records know better than schedstat.
 *
 * @param at_last  false: waits stay for the next time if schedstat was read long after the records
 * @return false: as above
 */
bool look_ended_settle(struct looks *looks, const struct look_process *process,
                       struct look_thread *thread, bool at_last);

#endif
