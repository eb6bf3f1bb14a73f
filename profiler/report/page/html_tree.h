/*
 * All stacks of a model as one tree, outermost functions first: what a page draws. A node is a place that was called
 * from its parent's place; its place is a function at a line. Nodes stand in preorder: a parent, then all below it.
 */
#ifndef PROFILER_REPORT_PAGE_HTML_TREE_H
#define PROFILER_REPORT_PAGE_HTML_TREE_H

#include "profiler/report/model/model.h"

/* What stands where no function does. Numbered behind the model's functions, in this order. */
enum html_mark {
    HTML_OMITTED,
    HTML_TRUNCATED,
    HTML_AWAIT,
    HTML_NO_STACK,
    HTML_UNSAMPLED,
    HTML_MARKS /* how many */
};

/* "[omitted]", ... */
const char *html_mark_text(enum html_mark mark);

struct html_place {
    uint32_t function; /* index in the model; behind them enum html_mark */
    uint32_t file, line;
    enum report_kind kind; /* of a function */
    bool inlined;
};

struct html_node {
    uint32_t place;
    uint32_t parent; /* index; REPORT_NONE: outermost */
    uint32_t depth;  /* of an outermost one 0 */
};

struct html_tree {
    REPORT_ARRAY(struct html_place) places;
    REPORT_ARRAY(struct html_node) nodes;
    uint32_t *leaf;               /* of each stack of the model: its node */
    uint32_t no_stack, unsampled; /* nodes */
};

/* @return false: no memory; out is to be freed in any case */
bool html_tree_make(struct html_tree *out, const struct report_model *model);

void html_tree_free(struct html_tree *tree);

#endif
