/* The call tree of functions that browsers' profiles have: "(root)", a node for each thread, its functions. */
#ifndef PROFILER_REPORT_FORMATS_ROW_NODES_H
#define PROFILER_REPORT_FORMATS_ROW_NODES_H

#include <stdio.h>

#include "profiler/report/formats/call_nodes.h"
#include "profiler/report/formats/frames.h"
#include "profiler/report/formats/pieces.h"

/* Frames of nodes: functions of the model, marks (frames.h), threads by their index in `members`, then names of the format. */
struct report_row_nodes {
    const struct report_model *model;
    struct report_call_nodes nodes;
    struct report_frames frames;
    uint32_t *of_row; /* + 1; 0: not asked yet */
};

/* It has no node yet. @return false: no memory; out is to be freed in any case */
bool report_row_nodes_begin(struct report_row_nodes *out, const struct report_model *model);

/*
 * Each finds a node, or adds it. @param member  a thread's index in `members`; their number: no thread
 *
 * @return false: no memory
 */
bool report_row_nodes_root(struct report_row_nodes *n, uint32_t *out);
bool report_row_nodes_thread(struct report_row_nodes *n, uint32_t root, uint32_t member,
                             uint32_t *out); /* "worker (12)" */
bool report_row_nodes_own_root(struct report_row_nodes *n, uint32_t member, uint32_t *out);
bool report_row_nodes_idle(struct report_row_nodes *n, uint32_t root, uint32_t *out);

/*
 * The same of a piece's leaf, with all of its callers' nodes.
 *
 * @param base  what calls its outermost function: for each thread always the same
 */
bool report_row_nodes_find(struct report_row_nodes *n, const struct report_piece *piece,
                           uint32_t base, uint32_t *out);

/* Writes `"callFrame":{...}` of a node: its function, source file or module, without a line. */
void report_row_nodes_put(FILE *to, const struct report_row_nodes *n, uint32_t node);

void report_row_nodes_free(struct report_row_nodes *n);

#endif
