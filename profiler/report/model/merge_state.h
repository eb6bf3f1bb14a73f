/* A merged recording in the making: what merge.c, merge_input.c and merge_stacks.c share. */
#ifndef PROFILER_REPORT_MODEL_MERGE_STATE_H
#define PROFILER_REPORT_MODEL_MERGE_STATE_H

#include <errno.h>

#include "profiler/report/model/merge_pauses.h"
#include "profiler/report/model/merge_places.h"

enum { MERGE_CBF_MOST = 1 << 20 };

struct merged_process {
    struct merge_places places;
    uint64_t time, end, cpu_ns, unsampled_ns;
    bool running; /* one still ran */
};

struct merged_thread {
    uint32_t process, name, engine; /* name: a string */
    uint32_t idle;                  /* threads of pools that it stands for */
    uint64_t time;
    uint64_t end, cpu_ns, unsampled_ns;
};

struct merged_loss {
    uint32_t reason, text;
    uint64_t count;
};

struct report_merge {
    struct sfb_recording_writer *writer;
    uint64_t realtime; /* of the beginning: its clock is that of the day */
    struct report_strings texts;
    struct report_index process_index; /* by program */
    struct report_index thread_index;  /* by process and name, and by where it is idle */
    struct report_index idle_index;    /* by stack, state and call */
    struct report_index loss_index;    /* by reason and text */
    struct report_index code_index;    /* by process and name, file and first line */
    uint32_t idle_count;               /* places so far where threads are idle */
    uint32_t code_count;               /* functions of interpreters so far */
    struct report_index awaited_index; /* by process, kind and name, and address */
    uint32_t awaited_count;            /* futexes and descriptors so far */
    REPORT_ARRAY(struct merged_process) processes;
    REPORT_ARRAY(struct merged_thread) threads;
    REPORT_ARRAY(struct merged_loss) losses;
    struct merge_pauses pauses;
    uint64_t last; /* time */
    uint8_t *cbf;
    enum sfb_status status;
    int error;
};

/* Keeps the first failure, with its errno. @return false */
static inline bool report_merge_fail(struct report_merge *m, enum sfb_status status)
{
    if (m->status == SFB_OK) {
        m->status = status;
        m->error = m->writer ? sfb_recording_writer_errno(m->writer) : errno;
    }
    return false;
}

static inline bool report_merge_check(struct report_merge *m, enum sfb_status status)
{
    return status == SFB_OK || report_merge_fail(m, status);
}

#endif
