/* Call trees: where each function was called from, and what it called. */
#ifndef PROFILER_REPORT_TEXT_TREE_H
#define PROFILER_REPORT_TEXT_TREE_H

#include "profiler/report/text/columns.h"
#include "profiler/report/text/entity.h"

struct report_tree_node {
    uint32_t entity;
    uint32_t first, next; /* child, sibling; REPORT_NONE */
    struct report_amount self, total;
};

struct report_tree {
    REPORT_ARRAY(struct report_tree_node)
    nodes;                     /* the first is the root; its entity is REPORT_NONE */
    struct report_index index; /* by parent and entity */
};

/* @return false: no memory; out is to be freed in any case */
bool report_tree_begin(struct report_tree *out);

/*
 * Adds time to a path from the root on.
 *
 * @return false: no memory
 */
bool report_tree_add(struct report_tree *tree, const uint32_t *entities, size_t count,
                     const struct report_amount *weight);

struct report_tree_look {
    const struct report_columns *columns;
    const struct report_entities *entities;
    const char *root; /* what the root is called */
    double percent;   /* branches with less are one line: [2 more] */
    bool fold_chains; /* so are long chains without a branch: [5 calls] */
};

/* Writes a tree. A row of functions each of which has one caller is not moved in. @return false: no memory */
bool report_tree_show(FILE *to, const struct report_tree *tree,
                      const struct report_tree_look *look);

void report_tree_free(struct report_tree *tree);

/* The call tree of a model: the root is all CPU time. @return false: no memory */
bool report_tree_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       double percent);

/* The entities of a stack, leaf first; grows with each call. */
struct report_path {
    REPORT_ARRAY(uint32_t) steps;
};

/* @return false: no memory */
bool report_path_of(struct report_path *out, const struct report_entities *entities,
                    uint32_t stack);

#endif
