/*
 * Stacks of one input in the merged recording: addresses are where merge_places.h puts their modules, and calls of an
 * interpreter's functions are of the merged process's functions.
 */
#ifndef PROFILER_REPORT_MODEL_MERGE_STACKS_H
#define PROFILER_REPORT_MODEL_MERGE_STACKS_H

#include "profiler/report/model/merge_state.h"

struct merge_stacks {
    struct report_merge *merge;
    const struct report_data *data;
    const uint32_t *processes;              /* of each of the input: the merged one's index */
    struct object_perf_map *made;           /* of each process */
    bool *asked;                            /* whether made was read */
    struct merge_view view;                 /* of the list that was used last */
    uint32_t process, list;                 /* its */
    struct report_index stacks;             /* by CBF and list */
    REPORT_ARRAY(uint32_t) ids;             /* of what that numbers: the merged stack's id */
    struct sfb_recording_code_frame *calls; /* calls of a stack are put here */
};

/* @return false: no memory. merge_stacks_free() in any case */
bool merge_stacks_begin(struct merge_stacks *out, struct report_merge *merge,
                        const struct report_data *data, const uint32_t *processes);

void merge_stacks_free(struct merge_stacks *stacks);

/*
 * Gives the merged recording a stack, once.
 *
 * @param stack   index; REPORT_NONE: no stack
 * @param thread  index: that it is of
 * @param time    selects the list of modules
 * @param id      0: there is no stack
 * @return false: the merge failed
 */
bool merge_stacks_find(struct merge_stacks *stacks, uint32_t stack, uint32_t thread, uint64_t time,
                       uint32_t *id);

/*
 * Finds where a module stands in the merged process.
 *
 * @param process  index, of the input
 * @param start    where the module begins there
 * @param out      0: it is in no list
 * @return false: the merge failed
 */
bool merge_stacks_module(struct merge_stacks *stacks, uint32_t process, uint64_t time,
                         uint64_t start, uint64_t *out);

#endif
