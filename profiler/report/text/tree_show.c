/* Lines of a tree, without recursion: a stack may be deeper than ours. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tree.h"

enum branch { ONLY, MIDDLE, LAST };

/* Fewer calls of a chain are shown. */
enum { CHAIN_MIN = 3 };

/* What is yet to be written, the next one last. */
struct item {
    uint32_t node;              /* REPORT_NONE: what is left out of the parent */
    uint32_t count;             /* of branches that are left out */
    uint32_t between;           /* calls before it that are left out: a chain without a branch */
    struct report_amount total; /* theirs */
    size_t depth;               /* branches between the root and it: of `guides` */
    enum branch kind;           /* how it hangs on its parent */
};

struct show {
    FILE *to;
    const struct report_tree *tree;
    const struct report_tree_look *look;
    REPORT_ARRAY(struct item) items;
    REPORT_ARRAY(uint32_t) children; /* of one node */
    REPORT_ARRAY(char) guides;       /* of each branch above: whether a line goes on below it */
    bool failed;
};

static const struct report_tree_node *node_at(const struct show *s, uint32_t node)
{
    return &s->tree->nodes.at[node];
}

static int compare(const void *a, const void *b, void *user)
{
    const struct show *s = user;
    const struct report_tree_node *x = node_at(s, *(const uint32_t *)a),
                                  *y = node_at(s, *(const uint32_t *)b);
    const struct report_entity *e = &s->look->entities->all.at[x->entity],
                               *f = &s->look->entities->all.at[y->entity];
    int order = (x->total.value < y->total.value) - (x->total.value > y->total.value);

    if (order == 0)
        order = strcmp(e->name, f->name);
    return order != 0 ? order : strcmp(e->module, f->module);
}

static void push(struct show *s, const struct item *item)
{
    struct item *next = REPORT_NEXT(s->items);

    if (next)
        *next = *item;
    s->failed |= !next;
}

/* Pushes the large children, the largest last: it is shown first. The small ones are one item. */
static void push_children(struct show *s, const struct report_tree_node *parent, size_t depth)
{
    struct item others = { .node = REPORT_NONE, .depth = depth, .kind = LAST };

    s->children.count = 0;
    for (uint32_t child = parent->first; child != REPORT_NONE; child = node_at(s, child)->next) {
        const struct report_tree_node *node = node_at(s, child);
        uint32_t *next;

        if (report_share(node->total.value, s->look->columns->all) < s->look->percent) {
            others.count++;
            report_amount_add(&others.total, &node->total);
            continue;
        }
        next = REPORT_NEXT(s->children);
        if (next)
            *next = child;
        s->failed |= !next;
    }
    if (s->failed)
        return;
    if (s->children.count > 1)
        qsort_r(s->children.at, s->children.count, sizeof *s->children.at, compare, s);
    if (s->children.count == 0)
        others.kind = ONLY;
    if (others.count > 0)
        push(s, &others);
    for (size_t i = s->children.count; i-- > 0;) {
        const bool last = i + 1 == s->children.count && others.count == 0;
        const struct item item = { .node = s->children.at[i],
                                   .depth = depth,
                                   .kind = last && i == 0 ? ONLY
                                           : last         ? LAST
                                                          : MIDDLE };

        push(s, &item);
    }
}

/* How many branches are drawn: lines that are moved in too far leave no room for names. */
static size_t branches_that_fit(const struct show *s)
{
    const unsigned room = report_columns_room(s->look->columns);

    return room == 0 ? SIZE_MAX : room / 2 / 3;
}

/* @return columns written */
static unsigned put_guides(const struct show *s, const struct item *item)
{
    static const char *const lines[2][3] = { { "|  ", "|- ", "`- " },
                                             { "\u2502  ", "\u251c\u2500 ", "\u2514\u2500 " } };
    const char *const *own = lines[s->look->columns->style->utf8];
    const size_t fit = branches_that_fit(s);
    size_t first = item->depth > fit ? item->depth - fit : 0;
    unsigned width = 0;

    if (first > 0)
        width += (unsigned)fprintf(s->to, "+%zu ", first);
    for (; first < item->depth; first++, width += 3)
        fputs(s->guides.at[first] ? own[0] : "   ", s->to);
    if (item->kind != ONLY) {
        fputs(own[item->kind == MIDDLE ? 1 : 2], s->to);
        width += 3;
    }
    return width;
}

static void put_name(const struct show *s, const struct item *item, uint32_t entity, size_t times)
{
    const struct report_style *style = s->look->columns->style;
    unsigned room = report_columns_room(s->look->columns);
    unsigned width = put_guides(s, item);
    char repeated[32] = "";

    if (times > 1)
        width += (unsigned)snprintf(repeated, sizeof repeated, " x %zu", times);
    if (room > 0)
        room = room > width + 8 ? room - width : 8;
    if (item->node == REPORT_NONE)
        fprintf(s->to, "[%u more]", item->count);
    else if (entity == REPORT_NONE)
        report_name_put(s->to, style, s->look->root, room);
    else
        report_name_put_in(s->to, style, s->look->entities->all.at[entity].name,
                           s->look->entities->all.at[entity].module, room);
    fprintf(s->to, "%s\n", repeated);
}

/* A line goes on below a branch that is not the last one. @return branches above what it calls */
static size_t go_in(struct show *s, const struct item *item)
{
    if (item->kind == ONLY)
        return item->depth;
    while (s->guides.count <= item->depth)
        if (!REPORT_NEXT(s->guides)) {
            s->failed = true;
            return 0;
        }
    s->guides.at[item->depth] = item->kind == MIDDLE;
    return item->depth + 1;
}

/* Whether a call tells nothing but the way: all that it has is its only callee's. */
static const struct report_tree_node *only_way(const struct show *s,
                                               const struct report_tree_node *node)
{
    const struct report_tree_node *only =
        node->first == REPORT_NONE ? NULL : node_at(s, node->first);

    return only && only->next == REPORT_NONE && node->self.value == 0 &&
                   only->total.value == node->total.value
               ? only
               : NULL;
}

/* Where no function called the other: "[await]", and the task of asyncio behind it. Those are always shown. */
static bool is_turn(const struct show *s, uint32_t node)
{
    const uint32_t entity = node_at(s, node)->entity;
    const char *name = entity == REPORT_NONE ? "" : s->look->entities->all.at[entity].name;

    return strcmp(name, "[await]") == 0 || strncmp(name, "task ", strlen("task ")) == 0;
}

/* The calls of a chain without a branch that are left out: all but its ends, where it is long enough. @return its end */
static uint32_t skip_chain(const struct show *s, uint32_t node, uint32_t *between)
{
    const uint32_t first = node;
    uint32_t count = 0;

    *between = 0;
    if (is_turn(s, node))
        return first;
    while (only_way(s, node_at(s, node)) && !is_turn(s, node_at(s, node)->first)) {
        node = node_at(s, node)->first;
        count++;
    }
    *between = count >= CHAIN_MIN ? count : 0;
    return *between > 0 ? node : first;
}

static void push_end_of_chain(struct show *s, uint32_t first, size_t depth)
{
    uint32_t between;
    const uint32_t end = skip_chain(s, first, &between);

    push(s, &(struct item){ .node = end, .between = between, .depth = depth, .kind = ONLY });
}

/* The line that stands for the calls of a chain. */
static void put_between(const struct show *s, const struct item *item)
{
    fprintf(s->to, "%*s", (int)s->look->columns->before, "");
    put_guides(s, item);
    fprintf(s->to, "[%" PRIu32 " calls]\n", item->between);
}

/* A function that calls itself and nothing else is one line. */
static void put(struct show *s, const struct item *item)
{
    const struct report_tree_node *node = node_at(s, item->node), *inner = node;
    struct report_amount self = node->self;
    size_t times = 1;

    for (;;) {
        const struct report_tree_node *only =
            inner->first == REPORT_NONE ? NULL : node_at(s, inner->first);

        if (!only || only->next != REPORT_NONE || only->entity != inner->entity)
            break;
        inner = only;
        report_amount_add(&self, &inner->self);
        times++;
    }
    report_columns_put(s->to, s->look->columns, &self, &node->total);
    put_name(s, item, node->entity, times);
    if (s->look->fold_chains && only_way(s, inner))
        push_end_of_chain(s, inner->first, go_in(s, item));
    else
        push_children(s, inner, go_in(s, item));
}

bool report_tree_show(FILE *to, const struct report_tree *tree, const struct report_tree_look *look)
{
    struct show s = { .to = to, .tree = tree, .look = look };

    push(&s, &(struct item){ .node = 0, .kind = ONLY });
    while (!s.failed && s.items.count > 0) {
        const struct item item = s.items.at[--s.items.count];

        if (item.between > 0)
            put_between(&s, &item);
        if (item.node != REPORT_NONE) {
            put(&s, &item);
        } else {
            report_columns_put_branches(to, look->columns, &item.total);
            put_name(&s, &item, REPORT_NONE, 1);
        }
    }
    free(s.items.at);
    free(s.children.at);
    free(s.guides.at);
    return !s.failed;
}
