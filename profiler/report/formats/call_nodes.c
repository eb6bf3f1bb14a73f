#include "profiler/report/formats/call_nodes.h"

#include <stdlib.h>

bool report_call_nodes_find(struct report_call_nodes *nodes, uint32_t caller, uint32_t frame,
                            uint32_t *out)
{
    struct report_call_node *node;
    bool found;

    if (!report_index_find(&nodes->index, caller, frame, (uint32_t)nodes->all.count, out, &found))
        return false;
    if (found)
        return true;
    node = REPORT_NEXT(nodes->all);
    if (node)
        *node = (struct report_call_node){ .caller = caller, .frame = frame };
    return node != NULL;
}

void report_call_nodes_free(struct report_call_nodes *nodes)
{
    free(nodes->all.at);
    report_index_free(&nodes->index);
    *nodes = (struct report_call_nodes){ .index = { .at = NULL } };
}
