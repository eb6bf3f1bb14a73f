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

/* A process has ended, or has executed another program, and no record says so. */
void outside_gone(struct outside *outside, uint32_t pid, uint64_t time);
void outside_replaced(struct outside *outside, uint32_t pid, uint64_t time);

/* All of a process's CPU time counts: it has begun since the recording has. */
void outside_from_birth(struct outside *outside, uint32_t pid);

/* Whether a process was introduced, or its records came, and it has not ended. */
bool outside_knows(struct outside *outside, uint32_t pid);

/*
 * Ends what the recording has of a process, and keeps what is known of it: samples that come later are of another entry,
 * which begins at that time. For a process that is recorded another way meanwhile.
 */
void outside_part(struct outside *outside, uint32_t pid, uint64_t time);

/*
 * What the recording has of a process, or of a thread, is another's from now on: its end is not written here.
 *
 * @return its id; 0: it is not in it
 */
uint32_t outside_hand_over(struct outside *outside, uint32_t pid, uint64_t *weight_ns);
uint32_t outside_hand_over_thread(struct outside *outside, uint32_t tid);

/* Whether a thread is the last one of its process. */
bool outside_is_last(struct outside *outside, uint32_t pid, uint32_t tid);

/* CPU time of a thread that has ended, and that no sample has: where its process ends unseen, nothing else says it. */
void outside_rest(struct outside *outside, uint32_t pid, uint64_t ns);

/* CPU time of a process since its entry in the recording began, as events have counted it. */
void outside_used(struct outside *outside, uint32_t pid, uint64_t ns);

/* Whether a process is known, and has not ended. */
bool outside_knows(struct outside *outside, uint32_t pid);

/* @return CPU time of the samples of a process's entry in the recording, in ns */
uint64_t outside_weight_of(struct outside *outside, uint32_t pid);

/* @return the id of a process in the recording; 0: it is not in it */
uint32_t outside_id_of(struct outside *outside, uint32_t pid);

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
