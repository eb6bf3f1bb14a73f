/*
 * Reads what agents have written to the shared memory, and writes it to a recording.
 *
 * No byte of that memory is trusted: a record is copied and then judged. What contradicts itself is counted
 * (SFB_LOSS_BAD_RING) and skipped. It prints nothing, and knows neither perf nor /proc: who drains may watch.
 *
 *     dictionary.h   hash of a stack -> id
 *     slots.h        what is known of a slot: process or ring
 *     ring.h         records of a ring
 *     heap_drain.h   records of all rings of a process, where the heap is recorded: who never does does not link it
 *     modules.h      lists of modules
 *     process.h      beginning and end of a process
 *     watch.h        who watches
 */
#ifndef RECORDER_DRAIN_H
#define RECORDER_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/shared.h"
#include "recorder/watch.h"
#include "sfb/recording.h"

struct sfb_recorder_drain; /* opaque */

struct sfb_recorder_heap_calls; /* opaque: heap_drain.h has them */

struct sfb_recorder_drain_options {
    struct sfb_shared *shared; /* sfb_shared_size() bytes; borrowed */
    int fd; /* of them: pages of free slots are given back; -1: they are not in a file */
    uint32_t first_pid;                  /* the program that is STARTED; 0: each that says so */
    struct sfb_recording_writer *writer; /* borrowed */
    struct sfb_recorder_watcher watcher;
    bool no_children; /* programs that are executed are not recorded */
    const struct sfb_recorder_heap_calls
        *heap;            /* &sfb_recorder_heap_drain, where the heap is recorded */
    bool aggregate;       /* of the heap: no events, sums alone */
    uint64_t snapshot_ns; /* of the heap: its sums are written so often; 0: at the end */
    bool own_thread; /* of the heap: rings are emptied as they fill, by a thread of the drain */
};

/* @return SFB_OK; SFB_NO_RESOURCE: memory */
enum sfb_status sfb_recorder_drain_open(struct sfb_recorder_drain **out,
                                        const struct sfb_recorder_drain_options *options);

/*
 * Reads what is there now. To be called each 10 ms, and when `wake` has changed.
 *
 * @return SFB_OK
 *         SFB_NO_RESOURCE  the writer writes no more (sfb_recording_writer_errno()), or no memory. Agents are told to
 *                          stop, and nothing is drained from now on
 */
enum sfb_status sfb_recorder_drain(struct sfb_recorder_drain *drain);

/*
 * The process in a slot has ended: to be written with the next sfb_recorder_drain().
 *
 * @param end     enum sfb_recording_end
 * @param cpu_ns  its CPU time from its very beginning; 0: not known
 */
void sfb_recorder_drain_ended(struct sfb_recorder_drain *drain, uint32_t slot, uint32_t end,
                              uint32_t status, uint64_t cpu_ns);

/* A loss that the drain does not see itself. The process is an id, or 0. */
void sfb_recorder_drain_lost(struct sfb_recorder_drain *drain, uint32_t process,
                             enum sfb_recording_loss reason, uint64_t count, const char *text);

/*
 * Ends the recording: tells agents to stop, reads what is there, and ends all that is left. Processes that still run
 * are LEFT. The writer stays open.
 */
enum sfb_status sfb_recorder_drain_finish(struct sfb_recorder_drain *drain);

/* Waits until the next sfb_recorder_drain() is due, where the heap is recorded. @return whether a signal came */
bool sfb_recorder_drain_wait(const struct sfb_recorder_drain *drain);

void sfb_recorder_drain_totals(const struct sfb_recorder_drain *drain,
                               struct sfb_recorder_totals *out);

void sfb_recorder_drain_close(struct sfb_recorder_drain *drain);

#endif
