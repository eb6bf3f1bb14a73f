#include "profiler/report/formats/cpuprofile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/row_nodes.h"
#include "profiler/report/formats/time_line.h"

/* DevTools takes events at 0 for events without a time. */
enum { START_US = 1000 };

struct profile {
    FILE *to;
    struct report_row_nodes tree;
    struct report_pieces pieces;
    REPORT_ARRAY(uint64_t) weights; /* of nodes */
};

/* A sample lasts until the next one: "(root)" ends the last. */
static bool put_samples(struct profile *p)
{
    uint32_t root;
    bool good = report_row_nodes_root(&p->tree, &root);

    fputs("\"samples\":[", p->to);
    for (size_t i = 0; good && i < p->pieces.all.count; i++) {
        const struct report_piece *piece = &p->pieces.all.at[i];
        uint32_t node;

        good = report_row_nodes_thread(&p->tree, root, piece->member, &node) &&
               report_row_nodes_find(&p->tree, piece, node, &node);
        while (good && p->weights.count <= node)
            good = REPORT_NEXT(p->weights) != NULL;
        if (good) {
            p->weights.at[node] = report_saturated(p->weights.at[node], piece->weight);
            fprintf(p->to, "%" PRIu32 ",", node + 1);
        }
    }
    fputs("1],\n", p->to);
    return good;
}

static void put_deltas(struct profile *p)
{
    uint64_t sum = START_US * UINT64_C(1000);

    fputs("\"timeDeltas\":[0", p->to);
    for (size_t i = 0; i < p->pieces.all.count; i++) {
        putc(',', p->to);
        report_time_line_put(p->to, p->pieces.all.at[i].weight, 3);
        sum = report_saturated(sum, p->pieces.all.at[i].weight);
    }
    fputs("],\n\"endTime\":", p->to);
    report_time_line_put(p->to, sum, 3);
    fputs(",\n", p->to);
}

/* Lists of called nodes: the first of each node, and the next of the same caller; + 1, 0: none. */
struct called {
    uint32_t first, next;
};

/* From the last one on, so that a list ascends. */
static void link_called(struct called *lists, const struct report_call_nodes *nodes)
{
    for (size_t i = nodes->all.count; i-- > 1;) {
        const uint32_t caller = nodes->all.at[i].caller;

        lists[i].next = lists[caller].first;
        lists[caller].first = (uint32_t)i + 1;
    }
}

static bool put_nodes(struct profile *p)
{
    const struct report_call_nodes *nodes = &p->tree.nodes;
    struct called *lists = calloc(nodes->all.count, sizeof *lists);

    if (!lists)
        return false;
    link_called(lists, nodes);
    fputs("\"nodes\":[", p->to);
    for (uint32_t i = 0; i < nodes->all.count; i++) {
        fprintf(p->to, "%s{\"id\":%" PRIu32 ",", i > 0 ? ",\n" : "\n", i + 1);
        report_row_nodes_put(p->to, &p->tree, i);
        fprintf(p->to, ",\"hitCount\":%" PRIu64 ",\"children\":[",
                i < p->weights.count ? p->weights.at[i] : 0);
        for (uint32_t k = lists[i].first; k > 0; k = lists[k - 1].next)
            fprintf(p->to, "%s%" PRIu32, k == lists[i].first ? "" : ",", k);
        fputs("]}", p->to);
    }
    fputs("]}\n", p->to);
    free(lists);
    return true;
}

bool report_cpuprofile_write(FILE *to, const struct report_model *model)
{
    struct profile p = { .to = to };
    bool good = report_row_nodes_begin(&p.tree, model);

    good = report_pieces_make(&p.pieces, model, 0) && good;
    fprintf(to, "{\"startTime\":%d,\n", START_US);
    good = good && put_samples(&p);
    put_deltas(&p);
    good = good && put_nodes(&p);
    report_row_nodes_free(&p.tree);
    report_pieces_free(&p.pieces);
    free(p.weights.at);
    return good;
}
