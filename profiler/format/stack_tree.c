#include "profiler/format/stack_tree.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE = 65536 }; /* twice the limit of both */

_Static_assert(RECORDING_NODES_MAX * 2 <= TABLE && RECORDING_SYMBOLS_MAX * 2 <= TABLE, "room");

struct node {
    uint32_t parent, symbol;
};

struct symbol {
    uint64_t value;
    uint32_t kind, number;
};

struct sfb_stack_tree {
    uint32_t node_count, symbol_count;
    uint64_t frames;
    size_t bytes;
    struct node nodes[RECORDING_NODES_MAX + 1]; /* from 1 */
    struct symbol symbols[RECORDING_SYMBOLS_MAX];
    uint32_t ranks[RECORDING_SYMBOLS_MAX]; /* by number, after sorting */
    uint32_t node_table[TABLE];            /* node; 0: empty */
    uint32_t symbol_table[TABLE];          /* symbol + 1; 0: empty */
};

struct sfb_stack_tree *sfb_stack_tree_open(void)
{
    return calloc(1, sizeof(struct sfb_stack_tree));
}

void sfb_stack_tree_close(struct sfb_stack_tree *tree)
{
    free(tree);
}

static uint32_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 0x9e3779b97f4a7c15u ^ b) * 0xd6e8feb86659fd93u;

    return (uint32_t)(h >> 40 ^ h >> 20) & (TABLE - 1);
}

static uint32_t symbol_of(struct sfb_stack_tree *t, const struct sfb_stack_item *item)
{
    uint32_t at = mix(item->value, item->kind);

    for (; t->symbol_table[at] != 0; at = (at + 1) & (TABLE - 1)) {
        const struct symbol *s = &t->symbols[t->symbol_table[at] - 1];

        if (s->value == item->value && s->kind == item->kind)
            return s->number;
    }
    t->symbols[t->symbol_count] = (struct symbol){ item->value, item->kind, t->symbol_count };
    t->symbol_table[at] = ++t->symbol_count;
    return t->symbol_count - 1;
}

/* @return the child of a node with a symbol, made if missing */
static uint32_t child_of(struct sfb_stack_tree *t, uint32_t parent, uint32_t symbol)
{
    uint32_t at = mix(parent, symbol);

    for (; t->node_table[at] != 0; at = (at + 1) & (TABLE - 1)) {
        const struct node *n = &t->nodes[t->node_table[at]];

        if (n->parent == parent && n->symbol == symbol)
            return t->node_table[at];
    }
    t->nodes[++t->node_count] = (struct node){ parent, symbol };
    t->node_table[at] = t->node_count;
    return t->node_count;
}

bool sfb_stack_tree_add(struct sfb_stack_tree *t, const struct sfb_stack_items *items, size_t size,
                        struct sfb_stack_place *out)
{
    const uint32_t before = t->node_count;
    uint32_t at = 0;

    if (t->node_count + items->count > RECORDING_NODES_MAX ||
        t->symbol_count + items->count > RECORDING_SYMBOLS_MAX ||
        t->frames + items->frames > RECORDING_FRAMES_MAX || t->bytes + size > RECORDING_STACK_BYTES)
        return false;
    out->parent = 0;
    for (size_t i = items->count; i-- > 0;) {
        at = child_of(t, at, symbol_of(t, &items->at[i]));
        if (at <= before)
            out->parent = at;
    }
    out->added = t->node_count - before;
    t->frames += items->frames;
    t->bytes += size;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

void sfb_stack_tree_write(struct sfb_stack_tree *t, struct sfb_bytes *nodes,
                          struct sfb_bytes *nodes_high, struct sfb_bytes *symbols)
{
    uint32_t i = 0;

    qsort(t->symbols, t->symbol_count, sizeof *t->symbols, compare);
    for (uint32_t kind = 0; kind < SYMBOL_KINDS; kind++) {
        uint64_t last = 0;
        uint32_t end = i;

        while (end < t->symbol_count && t->symbols[end].kind == kind)
            end++;
        sfb_bytes_put_uleb(symbols, end - i);
        for (; i < end; i++) {
            sfb_bytes_put_uleb(symbols, t->symbols[i].value - last);
            last = t->symbols[i].value;
            t->ranks[t->symbols[i].number] = i;
        }
    }
    for (uint32_t n = 1; n <= t->node_count; n++) {
        const uint32_t rank = t->ranks[t->nodes[n].symbol];

        sfb_bytes_put_u8(nodes, rank & 0xff);
        sfb_bytes_put_u8(nodes_high, rank >> 8);
    }
    memset(t->node_table, 0, sizeof t->node_table);
    memset(t->symbol_table, 0, sizeof t->symbol_table);
    t->node_count = t->symbol_count = 0;
    t->frames = t->bytes = 0;
}

size_t sfb_stack_tree_size(const struct sfb_stack_tree *t)
{
    return 2 * (size_t)t->node_count + 3 * (size_t)t->symbol_count;
}
