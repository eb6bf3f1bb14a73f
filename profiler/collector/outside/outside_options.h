/* What a recording from outside is made of, and what it has come to. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_OPTIONS_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_OPTIONS_H

#include "profiler/collector/outside/perf_record.h"
#include "profiler/collector/rings/recorded_ids.h"
#include "sfb/copied.h"
#include "sfb/recording.h"

struct outside; /* opaque */

struct outside_options {
    struct sfb_recording_writer *writer; /* borrowed */
    uint32_t engine;                     /* enum sfb_recording_engine, of all samples */
    bool kernel;                         /* frames of the kernel are kept */
    uint64_t kernel_text;                /* where its code begins; 0: as it does now */
    struct sfb_recorder_ids *ids;        /* shared with others that write; NULL: alone */

    /*
     * What else is known of a mapped file: its build-id, or where it can be opened.
     *
     * @param out  has what the record says; texts must live until the next call
     */
    void (*describe)(void *user, struct sfb_copied_mapping *out, uint32_t pid,
                     const struct perf_mmap *record);

    /* The arguments of a process that is seen for the first time. NULL: not known. @return bytes, with the last zero */
    size_t (*arguments)(void *user, uint32_t pid, char *out, size_t room);

    /* The user of such a process: its perf map is taken at its end. -1: not known. NULL: no maps are taken. */
    uint32_t (*owner)(void *user, uint32_t pid);

    /* CPU time of a process so far, in ns; 0: not known. NULL: never known. */
    uint64_t (*cpu)(void *user, uint32_t pid);

    /* The id of a process that is recorded another way, by its pid; 0: it is not. NULL: no other way. */
    uint32_t (*elsewhere)(void *user, uint32_t pid);
    void *user;
};

struct outside_totals {
    uint64_t samples, weight;
    uint64_t waits, waited; /* events, ns */
    uint64_t cut;           /* samples whose stack is longer than its copy */
    uint64_t complete;      /* that reached the outermost frame */
    uint64_t copied;        /* bytes of stacks */
    uint64_t no_stack;      /* samples that came without registers or stack */
    uint64_t unreadable;    /* records that are damaged */
    uint64_t lost;          /* that the kernel dropped */
    uint64_t cpu,
        unsampled; /* of ended processes, where it is known; and the part that no sample saw */
    uint32_t processes, threads;
};

#endif
