/*
 * Makes a recording of the records of perf events: processes and threads as they come and go, what they have mapped,
 * and samples, whose copied stacks are walked here. The records come from rings, or from a file of `perf record`; they
 * are taken in the order of their times.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_H

#include "profiler/collector/outside/perf_record.h"
#include "sfb/copied.h"
#include "sfb/recording.h"

struct outside; /* opaque */

struct outside_options {
    struct sfb_recording_writer *writer; /* borrowed */
    uint32_t engine;                     /* enum sfb_recording_engine, of all samples */
    bool kernel;                         /* frames of the kernel are kept */
    uint64_t kernel_text;                /* where its code begins; 0: as it does now */

    /*
     * What else is known of a mapped file: its build-id, or where it can be opened.
     *
     * @param out  has what the record says; texts must live until the next call
     */
    void (*describe)(void *user, struct sfb_copied_mapping *out, uint32_t pid,
                     const struct perf_mmap *record);

    /* The arguments of a process that is seen for the first time. NULL: not known. @return bytes, with the last zero */
    size_t (*arguments)(void *user, uint32_t pid, char *out, size_t room);

    /* CPU time of a process so far, in ns; 0: not known. NULL: never known. */
    uint64_t (*cpu)(void *user, uint32_t pid);
    void *user;
};

struct outside_totals {
    uint64_t samples, weight;
    uint64_t cut;        /* samples whose stack is longer than its copy */
    uint64_t complete;   /* that reached the outermost frame */
    uint64_t copied;     /* bytes of stacks */
    uint64_t no_stack;   /* samples that came without registers or stack */
    uint64_t unreadable; /* records that are damaged */
    uint64_t lost;       /* that the kernel dropped */
    uint64_t cpu,
        unsampled; /* of ended processes, where it is known; and the part that no sample saw */
    uint32_t processes, threads;
};

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

/* Where a sample's walk led. */
struct outside_sample {
    enum sfb_status end;
    uint32_t thread; /* its number, from 0 on, for what a caller keeps about threads */
};

/*
 * Takes a sample.
 *
 * @param weight  CPU time that it stands for, in ns
 * @param out     NULL: not wanted
 * @return false: the recording cannot be written, or no memory
 */
bool outside_take_sample(struct outside *outside, const struct perf_layout *layout,
                         const struct perf_sample *sample, uint64_t weight,
                         struct outside_sample *out);

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
