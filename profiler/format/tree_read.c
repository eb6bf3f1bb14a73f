#include "profiler/format/tree_read.h"

#include <stdlib.h>

#include "base/leb128.h"

struct sfb_tree *sfb_tree_new(void)
{
    struct sfb_tree *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->symbols = reallocarray(NULL, RECORDING_SYMBOLS_MAX, sizeof *t->symbols);
    t->nodes = reallocarray(NULL, RECORDING_NODES_MAX + 1, sizeof *t->nodes);
    if (t->symbols != NULL && t->nodes != NULL)
        return t;
    sfb_tree_free(t);
    return NULL;
}

void sfb_tree_free(struct sfb_tree *t)
{
    if (t == NULL)
        return;
    free(t->symbols);
    free(t->nodes);
    free(t);
}

static bool read_symbols(struct sfb_tree *t, struct sfb_reader *in)
{
    t->symbol_count = 0;
    for (uint32_t kind = 0; kind < SYMBOL_KINDS; kind++) {
        const uint64_t count = sfb_reader_uleb(in);
        uint64_t value = 0;

        if (in->failed || count > RECORDING_SYMBOLS_MAX - t->symbol_count)
            return false;
        for (uint64_t i = 0; i < count; i++) {
            value += sfb_reader_uleb(in);
            t->symbols[t->symbol_count++] = (struct sfb_stack_item){ value, kind };
        }
    }
    return !in->failed;
}

bool sfb_tree_begin(struct sfb_tree *t, struct sfb_reader *nodes, struct sfb_reader *nodes_high,
                    struct sfb_reader *symbols)
{
    t->node_count = nodes->left;
    t->known = 0;
    t->frames = t->bytes = 0;
    if (nodes->left != nodes_high->left || nodes->left > RECORDING_NODES_MAX ||
        !read_symbols(t, symbols))
        return false;
    for (size_t i = 0; i < t->node_count; i++) {
        const uint32_t symbol = nodes->pos[i] | (uint32_t)nodes_high->pos[i] << 8;

        t->nodes[i + 1].symbol = symbol;
        if (symbol >= t->symbol_count)
            return false;
    }
    sfb_reader_skip(nodes, t->node_count);
    sfb_reader_skip(nodes_high, t->node_count);
    return true;
}

/* Collects the items from a node outwards. @return false: empty, or more than a stack may have */
static bool collect(struct sfb_tree *t, size_t node)
{
    struct sfb_stack_items *items = &t->items;

    for (items->count = 0; node != 0; node = t->nodes[node].parent) {
        if (items->count > RECORDING_ITEMS_MAX)
            return false;
        items->at[items->count++] = t->symbols[t->nodes[node].symbol];
    }
    return items->count > 0;
}

size_t sfb_tree_stack(struct sfb_tree *t, uint32_t parent, uint64_t added)
{
    size_t node = parent, size;

    if (parent > t->known || added > t->node_count - t->known)
        return 0;
    for (uint64_t i = 0; i < added; i++) {
        t->nodes[++t->known].parent = (uint32_t)node;
        node = t->known;
    }
    if (!collect(t, node))
        return 0;
    size = sfb_stack_items_write(&t->items);
    t->bytes += size;
    t->frames += t->items.frames;
    if (t->frames > RECORDING_FRAMES_MAX || t->bytes > RECORDING_STACK_BYTES)
        return 0;
    return size;
}
