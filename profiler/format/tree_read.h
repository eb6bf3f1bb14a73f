/* Decodes the tree of a block's stacks: stack_tree.h describes it. */
#ifndef PROFILER_FORMAT_TREE_READ_H
#define PROFILER_FORMAT_TREE_READ_H

#include "base/reader.h"
#include "profiler/format/stack_items.h"

struct sfb_tree_node {
    uint32_t parent, symbol;
};

struct sfb_tree {
    struct sfb_stack_item *symbols; /* RECORDING_SYMBOLS_MAX */
    struct sfb_tree_node *nodes;    /* RECORDING_NODES_MAX + 1; node 0 is unused */
    size_t symbol_count;
    size_t node_count, known; /* nodes in the block; nodes with known parents */
    uint64_t frames, bytes;   /* of the stacks so far */
    struct sfb_stack_items items;
};

struct sfb_tree *sfb_tree_new(void); /* NULL: no memory */
void sfb_tree_free(struct sfb_tree *tree);

/* Begins a block. @return false: its columns contradict each other */
bool sfb_tree_begin(struct sfb_tree *tree, struct sfb_reader *nodes, struct sfb_reader *nodes_high,
                    struct sfb_reader *symbols);

/*
 * Decodes the stack that continues from `parent` with so many new nodes.
 *
 * @return its size; it is in tree->items.bytes. 0: no such stack, or too much for a block. Then the rest of the block is
 *         not read: that bounds its cost.
 */
size_t sfb_tree_stack(struct sfb_tree *tree, uint32_t parent, uint64_t added);

#endif
