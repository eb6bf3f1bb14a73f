#include "profiler/report/text/tree.h"

#include <stdlib.h>

#include "profiler/report/text/tally.h"

bool report_tree_begin(struct report_tree *out)
{
    struct report_tree_node *root;

    *out = (struct report_tree){ .nodes = { .count = 0 } };
    root = REPORT_NEXT(out->nodes);
    if (root)
        *root = (struct report_tree_node){ REPORT_NONE, REPORT_NONE, REPORT_NONE, { 0 }, { 0 } };
    return root != NULL;
}

/* @return false: no memory */
static bool child_of(struct report_tree *tree, uint32_t parent, uint32_t entity, uint32_t *out)
{
    struct report_tree_node *node;
    bool found;

    if (!report_index_find(&tree->index, parent, entity, (uint32_t)tree->nodes.count, out, &found))
        return false;
    if (found)
        return true;
    node = REPORT_NEXT(tree->nodes);
    if (!node)
        return false;
    *node = (struct report_tree_node){
        entity, REPORT_NONE, tree->nodes.at[parent].first, { 0 }, { 0 }
    };
    tree->nodes.at[parent].first = *out;
    return true;
}

bool report_tree_add(struct report_tree *tree, const uint32_t *entities, size_t count,
                     const struct report_amount *weight)
{
    uint32_t node = 0;

    report_amount_add(&tree->nodes.at[0].total, weight);
    for (size_t i = 0; i < count; i++) {
        if (!child_of(tree, node, entities[i], &node))
            return false;
        report_amount_add(&tree->nodes.at[node].total, weight);
    }
    report_amount_add(&tree->nodes.at[node].self, weight);
    return true;
}

void report_tree_free(struct report_tree *tree)
{
    free(tree->nodes.at);
    report_index_free(&tree->index);
}

bool report_path_of(struct report_path *out, const struct report_entities *entities, uint32_t stack)
{
    struct report_steps steps = report_steps_of(entities->model, stack);
    struct report_step step;

    out->steps.count = 0;
    while (report_steps_next(&steps, &step)) {
        uint32_t *next = REPORT_NEXT(out->steps);

        if (!next)
            return false;
        *next = report_entity_of_step(entities, &step);
    }
    return true;
}

/* @return false: no memory */
static bool add_stack(struct report_tree *tree, const struct report_entities *entities,
                      struct report_path *path, const struct report_weighed *weighed)
{
    const struct report_amount weight = report_weighed_sum(weighed);

    if (!report_path_of(path, entities, weighed->stack))
        return false;
    for (size_t a = 0, b = path->steps.count; a + 1 < b; a++) {
        const uint32_t kept = path->steps.at[a];

        path->steps.at[a] = path->steps.at[--b];
        path->steps.at[b] = kept;
    }
    return report_tree_add(tree, path->steps.at, path->steps.count, &weight);
}

/* @return false: no memory */
static bool add_stacks(struct report_tree *tree, const struct report_entities *entities)
{
    static const uint32_t unsampled = REPORT_ENTITY_UNSAMPLED;
    const struct report_model *model = entities->model;
    struct report_path path = { .steps = { .count = 0 } };
    const struct report_amount rest = report_exactly(model->unsampled);
    struct report_weights weights;
    bool good = report_weights_make(&weights, model);

    for (size_t i = 0; good && i < weights.count; i++)
        if (report_weighed_sum(&weights.at[i]).value > 0)
            good = add_stack(tree, entities, &path, &weights.at[i]);
    report_weights_free(&weights);
    free(path.steps.at);
    return good && (model->unsampled == 0 || report_tree_add(tree, &unsampled, 1, &rest));
}

bool report_tree_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       double percent)
{
    struct report_entities entities;
    struct report_tree tree = { .nodes = { .count = 0 } };
    struct report_columns columns;
    bool good = report_entities_make(&entities, model, REPORT_BY_FUNCTION) &&
                report_tree_begin(&tree) && add_stacks(&tree, &entities);

    if (good) {
        report_columns_make(&columns, style, model, tree.nodes.at[0].total.value, true);
        report_columns_head(to, &columns, "function (module)");
        good = report_tree_show(
            to, &tree,
            &(struct report_tree_look){ &columns, &entities, "[all]", percent, percent > 0 });
    }
    report_tree_free(&tree);
    report_entities_free(&entities);
    return good;
}
