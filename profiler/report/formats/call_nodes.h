/* A call tree as a table: each node has its caller's node and a frame. Formats of browsers name a stack by its leaf's node. */
#ifndef PROFILER_REPORT_FORMATS_CALL_NODES_H
#define PROFILER_REPORT_FORMATS_CALL_NODES_H

#include "util/array.h"
#include "util/index.h"

struct report_call_node {
    uint32_t caller; /* index, always a smaller one; REPORT_NONE: a root */
    uint32_t frame;  /* the caller's number of it */
};

struct report_call_nodes {
    REPORT_ARRAY(struct report_call_node) all;
    struct report_index index;
};

/*
 * Finds the node of a call, or adds it.
 *
 * @param out  written: its index; new ones follow all others
 * @return false: no memory
 */
bool report_call_nodes_find(struct report_call_nodes *nodes, uint32_t caller, uint32_t frame,
                            uint32_t *out);

void report_call_nodes_free(struct report_call_nodes *nodes);

#endif
