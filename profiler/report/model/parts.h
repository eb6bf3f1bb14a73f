/*
 * All that a model counts, part by part: its rows, then what was never sampled of each thread, then of each process.
 * The sum of the parts is all CPU time, so the sum of a file that is made of them is.
 */
#ifndef PROFILER_REPORT_MODEL_PARTS_H
#define PROFILER_REPORT_MODEL_PARTS_H

#include "profiler/report/model/model.h"

struct report_part {
    uint32_t source;                    /* index */
    const struct report_member *member; /* NULL: of a process, and no thread's */
    const struct report_process *process;
    uint32_t stack;   /* index; REPORT_NONE: none was taken */
    const char *mark; /* "[unsampled]": there is no stack; NULL: there may be one */
    uint64_t values[REPORT_VALUES];
    double variances[REPORT_VALUES];
};

struct report_parts {
    const struct report_model *model;
    size_t row, member, source, process; /* next */
};

struct report_parts report_parts_of(const struct report_model *model);

/* Gives the next part that is not zero. @return false: end */
bool report_parts_next(struct report_parts *parts, struct report_part *out);

/* @return the thread's name; "[no thread]" */
const char *report_part_thread(const struct report_part *part);

/* The process that report_part_way() was asked for last; begins as zeros. */
struct report_way {
    uint32_t source;
    const struct report_process *process;
    const char *text;
};

/*
 * How the process of a part was recorded.
 *
 * @return "agent"; from outside "events" or "looks"; one way after the other "agent+events"; "" of a heap
 */
const char *report_part_way(struct report_way *last, const struct report_model *model,
                            const struct report_part *part);

/* @return whether the model compares: recordings of group 0 are the old ones then */
bool report_model_compares(const struct report_model *model);

#endif
