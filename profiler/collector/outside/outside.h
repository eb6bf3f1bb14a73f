/*
 * Makes a recording of the records of perf events: processes and threads as they come and go, what they have mapped,
 * and samples, whose copied stacks are walked here. The records come from rings, or from a file of `perf record`; they
 * are taken in the order of their times.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_H

#include "profiler/collector/outside/outside_options.h"

/* @return NULL: no memory */
struct outside *outside_open(const struct outside_options *options);

/*
 * Introduces a process that ran before the first record, a thread of it, and what it has mapped. Records that are older
 * than its time say nothing new.
 */
void outside_program(struct outside *outside, uint32_t pid, uint32_t parent, uint64_t time,
                     const char *name);
void outside_thread(struct outside *outside, uint32_t pid, uint32_t tid, const char *name);
void outside_map(struct outside *outside, uint32_t pid, const struct sfb_copied_mapping *mapping);

/*
 * Takes a record that is not a sample; kinds that say nothing of tasks and files are passed over.
 *
 * @return false: the recording cannot be written, or no memory
 */
bool outside_take(struct outside *outside, const struct perf_record *record,
                  const struct perf_ids *ids);

/* A process has ended, and no record says so. */
void outside_gone(struct outside *outside, uint32_t pid, uint64_t time);

const struct outside_totals *outside_totals(const struct outside *outside);

/* A record could not be read. */
void outside_damaged(struct outside *outside);

/*
 * Ends all processes that still run.
 *
 * @param time  of the end
 * @return false: the recording could not be written
 */
bool outside_end(struct outside *outside, uint64_t time);

void outside_close(struct outside *outside);

#endif
