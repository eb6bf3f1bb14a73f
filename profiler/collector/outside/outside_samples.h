/* Samples of a recording from outside: copied stacks, which are walked here. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_SAMPLES_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_SAMPLES_H

#include "profiler/collector/outside/outside_options.h"

struct outside_python;

/* Where a thread was. */
struct outside_place {
    uint32_t stack; /* id; 0: none */
    uint32_t end;   /* enum sfb_status: how the walk ended */
};

/*
 * Takes a sample of an event, or a stack that was copied otherwise.
 *
 * @param weight  CPU time that it stands for, in ns
 * @param python  its functions of Python; NULL: none were read
 * @param place   written
 * @return false: the recording cannot be written, or no memory
 */
bool outside_take_sample(struct outside *outside, const struct perf_layout *layout,
                         const struct perf_sample *sample, uint64_t weight);
bool outside_take_stack(struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time,
                        uint64_t weight, const struct sfb_copied_stack *stack,
                        const struct outside_python *python, struct outside_place *place);

/*
 * The place of a sample's thread, for waits that follow.
 *
 * @param place      written; stack 0: the sample lacks a stack
 * @param registers  written; none is valid then
 * @return false: as above
 */
bool outside_place_sample(struct outside *outside, const struct perf_layout *layout,
                          const struct perf_sample *sample, struct outside_place *place,
                          struct sfb_context *registers);

/* Walks a stack, and gives its place for waits that follow. @return false: as above */
bool outside_find_place(struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time,
                        const struct sfb_copied_stack *stack, const struct outside_python *python,
                        struct outside_place *place);

/*
 * Ends a thread.
 *
 * @param cpu        CPU time of it since it was first seen, in ns
 * @param unsampled  the part that is in no sample
 * @return false: as above
 */
bool outside_end_thread(struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time,
                        uint64_t cpu, uint64_t unsampled);

/* @param wait  its thread is not read. @return false: as above */
bool outside_take_wait(struct outside *outside, uint32_t pid, uint32_t tid,
                       const struct sfb_recording_wait *wait);

/*
 * Records what threads of a process wait for, once.
 *
 * @param event  its id and process are not read
 * @param id     written; 0: the process is not in the recording
 * @return false: as above
 */
bool outside_put_awaited(struct outside *outside, uint32_t pid,
                         const struct sfb_recording_awaited *event, uint32_t *id);

/* @param id  written: of a thread in the recording, where it is from then on. @return false: as above */
bool outside_thread_id(struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time,
                       uint32_t *id);

#endif
