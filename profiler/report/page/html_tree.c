#include "profiler/report/page/html_tree.h"

#include <stdlib.h>

/* A stack's step, outermost first, and where it led. */
struct step {
    uint32_t place, node;
};

struct maker {
    const struct report_model *model;
    struct html_tree *tree;
    struct report_index places;   /* by function, file, line */
    struct report_index children; /* by parent and place */
    REPORT_ARRAY(uint32_t) stack; /* places, leaf first */
    REPORT_ARRAY(struct step)
    path; /* the last stack's: the next one most often begins as it does */
};

const char *html_mark_text(enum html_mark mark)
{
    switch (mark) {
    case HTML_OMITTED: return "[omitted]";
    case HTML_TRUNCATED: return "[truncated]";
    case HTML_AWAIT: return "[await]";
    case HTML_NO_STACK: return "[no stack]";
    case HTML_UNSAMPLED: return "[unsampled]";
    case HTML_MARKS: break;
    }
    return "";
}

/* --- Places ------------------------------------------------------------------------------------ */

/* @return false: no memory */
static bool add_place(struct maker *m, const struct html_place *place, uint32_t *out)
{
    const uint64_t where = (uint64_t)place->line << 1 | place->inlined;
    struct html_place *added;
    bool found;

    if (!report_index_find(&m->places, (uint64_t)place->function << 32 | place->file, where,
                           (uint32_t)m->tree->places.count, out, &found))
        return false;
    if (found)
        return true;
    added = REPORT_NEXT(m->tree->places);
    if (added)
        *added = *place;
    return added != NULL;
}

static bool add_mark(struct maker *m, enum html_mark mark, uint32_t *out)
{
    const struct html_place place = { .function =
                                          (uint32_t)m->model->functions.count + (uint32_t)mark };

    return add_place(m, &place, out);
}

static enum html_mark mark_of(const struct report_model *model, const struct report_steps *steps)
{
    if (!steps->stack)
        return HTML_NO_STACK;
    switch ((enum report_mark)model->frames.at[steps->stack->at + steps->frame - 1]) {
    case REPORT_OMITTED: return HTML_OMITTED;
    case REPORT_AWAIT: return HTML_AWAIT;
    case REPORT_TRUNCATED: break;
    }
    return HTML_TRUNCATED;
}

/* Places of a stack, leaf first. @return false: no memory */
static bool take_stack(struct maker *m, uint32_t stack)
{
    struct report_steps steps = report_steps_of(m->model, stack);
    struct report_step step;
    bool good = true;

    m->stack.count = 0;
    while (good && report_steps_next(&steps, &step)) {
        uint32_t *place = REPORT_NEXT(m->stack);

        if (!place)
            return false;
        if (step.line) {
            const struct html_place p = { .function = step.line->function,
                                          .file = step.line->file,
                                          .line = step.line->line,
                                          .kind = m->model->locations.at[step.location].kind,
                                          .inlined = step.line->inlined };

            good = add_place(m, &p, place);
        } else {
            good = add_mark(m, mark_of(m->model, &steps), place);
        }
    }
    return good;
}

/* --- Nodes ------------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool child_of(struct maker *m, uint32_t parent, uint32_t place, uint32_t *out)
{
    struct html_node *node;
    bool found;

    if (!report_index_find(&m->children, parent, place, (uint32_t)m->tree->nodes.count, out,
                           &found))
        return false;
    if (found)
        return true;
    node = REPORT_NEXT(m->tree->nodes);
    if (!node)
        return false;
    *node =
        (struct html_node){ .place = place,
                            .parent = parent,
                            .depth =
                                parent == REPORT_NONE ? 0 : m->tree->nodes.at[parent].depth + 1 };
    return true;
}

/* @param out  written: the node of the stack's leaf. @return false: no memory */
static bool add_stack(struct maker *m, uint32_t *out)
{
    const size_t count = m->stack.count;
    size_t same = 0;

    while (same < count && same < m->path.count &&
           m->path.at[same].place == m->stack.at[count - 1 - same])
        same++;
    m->path.count = same;
    while (same < count) {
        const uint32_t parent = same > 0 ? m->path.at[same - 1].node : REPORT_NONE;
        const uint32_t place = m->stack.at[count - 1 - same];
        struct step *step = REPORT_NEXT(m->path);

        if (!step || !child_of(m, parent, place, &step->node))
            return false;
        step->place = place;
        same++;
    }
    *out = count > 0 ? m->path.at[count - 1].node : REPORT_NONE;
    return true;
}

static bool add_lone_mark(struct maker *m, enum html_mark mark, uint32_t *out)
{
    uint32_t place;

    return add_mark(m, mark, &place) && child_of(m, REPORT_NONE, place, out);
}

static bool add_all(struct maker *m)
{
    struct html_tree *tree = m->tree;
    bool good = add_lone_mark(m, HTML_NO_STACK, &tree->no_stack) &&
                add_lone_mark(m, HTML_UNSAMPLED, &tree->unsampled);

    for (size_t i = 0; good && i < m->model->stacks.count; i++) {
        good = take_stack(m, (uint32_t)i) && add_stack(m, &tree->leaf[i]);
        if (good && tree->leaf[i] == REPORT_NONE) /* a stack of no frames */
            tree->leaf[i] = tree->no_stack;
    }
    return good;
}

/* --- Preorder ---------------------------------------------------------------------------------- */

/*
 * Nodes were added behind their parents, in any other order. With the sizes of all subtrees each one's place is known:
 * behind its parent and the subtrees of the children that were added before it.
 */
static bool put_in_order(struct html_tree *tree, size_t stacks)
{
    const size_t count = tree->nodes.count;
    uint32_t *size = calloc(count + 1, sizeof *size), *to = calloc(count + 1, sizeof *to);
    uint32_t *next =
        calloc(count + 1, sizeof *next); /* free place below each; at count: outermost */
    struct html_node *sorted = calloc(count + 1, sizeof *sorted);
    const bool good = size && to && next && sorted;

    for (size_t i = count; good && i-- > 0;) {
        const uint32_t parent = tree->nodes.at[i].parent;

        size[i]++;
        if (parent != REPORT_NONE)
            size[parent] += size[i];
    }
    for (size_t i = 0; good && i < count; i++) {
        struct html_node node = tree->nodes.at[i];
        uint32_t *free_place = &next[node.parent == REPORT_NONE ? count : node.parent];

        to[i] = *free_place;
        *free_place += size[i];
        next[i] = to[i] + 1;
        if (node.parent != REPORT_NONE)
            node.parent = to[node.parent];
        sorted[to[i]] = node;
    }
    for (size_t i = 0; good && i < stacks; i++)
        tree->leaf[i] = to[tree->leaf[i]];
    if (good) {
        tree->no_stack = to[tree->no_stack];
        tree->unsampled = to[tree->unsampled];
        free(tree->nodes.at);
        tree->nodes.at = sorted;
        tree->nodes.room = count + 1;
    } else {
        free(sorted);
    }
    free(size);
    free(to);
    free(next);
    return good;
}

bool html_tree_make(struct html_tree *out, const struct report_model *model)
{
    struct maker m = { .model = model, .tree = out };
    bool good;

    *out = (struct html_tree){ .leaf = calloc(model->stacks.count + 1, sizeof *out->leaf) };
    good = out->leaf && add_all(&m) && put_in_order(out, model->stacks.count);
    report_index_free(&m.places);
    report_index_free(&m.children);
    free(m.stack.at);
    free(m.path.at);
    return good;
}

void html_tree_free(struct html_tree *tree)
{
    free(tree->places.at);
    free(tree->nodes.at);
    free(tree->leaf);
    *tree = (struct html_tree){ .leaf = NULL };
}
