/*
 * Reads the agents' records from the shared memory, and writes them to a recording.
 *
 * No byte of that memory is trusted: a record is copied, then checked. Contradictions are counted (SFB_LOSS_BAD_RING) and
 * skipped. The drain prints nothing, and knows neither perf nor /proc; its caller may pass a watcher that does.
 *
 *     dictionary.h   hash of a stack -> id
 *     slots.h        state of a slot: process or ring
 *     ring_reader.h  records of a ring
 *     heap_drain.h   heap records of all rings of a process, in order: linked for the heap only
 *     module_lists.h lists of modules
 *     process.h      beginning and end of a process
 *     watch.h        callbacks of the watcher
 */
#ifndef PROFILER_COLLECTOR_RINGS_DRAIN_H
#define PROFILER_COLLECTOR_RINGS_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/collector/rings/recorded_ids.h"
#include "profiler/collector/rings/watch.h"
#include "profiler/protocol/shared.h"
#include "sfb/recording.h"

struct sfb_recorder_drain; /* opaque */

struct sfb_recorder_heap_calls; /* opaque: defined in heap_drain.c */

struct sfb_recorder_drain_options {
    struct sfb_shared *shared; /* sfb_shared_size() bytes; borrowed */
    int fd;             /* of the memory: pages of free slots are punched out; -1: not a file */
    uint32_t first_pid; /* the program that is STARTED; 0: each that reports so */
    struct sfb_recording_writer *writer; /* borrowed */
    struct sfb_recorder_ids *ids;        /* shared with others that write; NULL: the drain alone */
    struct sfb_recorder_watcher watcher;
    bool no_children; /* executed programs are not recorded */
    bool
        elsewhere; /* processes are recorded another way before an agent comes, and after a filter */
    const struct sfb_recorder_heap_calls *heap; /* &sfb_recorder_heap_drain; NULL: CPU time */
    bool aggregate;                             /* heap: sums without events */
    uint64_t snapshot_ns;      /* heap: period of writing sums; 0: only at the end */
    uint32_t temporary_within; /* heap: at most SFB_HEAP_WITHIN_MOST; 0: the default */
    bool own_thread;           /* heap: a thread of the drain empties rings as they fill */
    bool paused;               /* sfb_recorder_drain_pause() before the first agent attaches */
};

/* @return SFB_OK; SFB_NO_RESOURCE: no memory */
enum sfb_status sfb_recorder_drain_open(struct sfb_recorder_drain **out,
                                        const struct sfb_recorder_drain_options *options);

/*
 * Reads all present records. Called every 10 ms, and when `wake` has changed.
 *
 * @return SFB_OK
 *         SFB_NO_RESOURCE  the writer failed (sfb_recording_writer_errno()), or no memory. Agents are asked to stop, and
 *                          later calls drain nothing
 */
enum sfb_status sfb_recorder_drain(struct sfb_recorder_drain *drain);

/*
 * The process in a slot has exited: written by the next sfb_recorder_drain().
 *
 * @param end     enum sfb_recording_end
 * @param cpu_ns  its CPU time since its very beginning; 0: unknown
 */
void sfb_recorder_drain_ended(struct sfb_recorder_drain *drain, uint32_t slot, uint32_t end,
                              uint32_t status, uint64_t cpu_ns);

/*
 * Pauses the recording, or goes on: agents take no samples and no allocations meanwhile, and the recording says so. Frees of
 * blocks that it has are taken.
 *
 * @return SFB_OK; SFB_NO_RESOURCE: the recording cannot be written
 */
enum sfb_status sfb_recorder_drain_pause(struct sfb_recorder_drain *drain, bool paused);

/* Adds a loss that the drain cannot see itself. process: an id, or 0. */
void sfb_recorder_drain_lost(struct sfb_recorder_drain *drain, uint32_t process,
                             enum sfb_recording_loss reason, uint64_t count, const char *text);

/*
 * Ends the recording: asks agents to stop, reads the last records, and ends all threads and processes. Processes that
 * still run are LEFT. The writer stays open.
 */
enum sfb_status sfb_recorder_drain_finish(struct sfb_recorder_drain *drain);

/* For the heap: waits until the next sfb_recorder_drain() is due. @return whether a signal arrived */
bool sfb_recorder_drain_wait(const struct sfb_recorder_drain *drain);

void sfb_recorder_drain_totals(const struct sfb_recorder_drain *drain,
                               struct sfb_recorder_totals *out);

void sfb_recorder_drain_close(struct sfb_recorder_drain *drain);

#endif
