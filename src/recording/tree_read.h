/* The tree of a block's stacks, as it is read: stack_tree.h has what it is. */
#ifndef SFB_RECORDING_TREE_READ_H
#define SFB_RECORDING_TREE_READ_H

#include "base/reader.h"
#include "recording/stack_items.h"

struct sfb_tree_node {
    uint32_t parent, symbol;
};

struct sfb_tree {
    struct sfb_stack_item *symbols; /* RECORDING_SYMBOLS_MAX */
    struct sfb_tree_node *nodes;    /* RECORDING_NODES_MAX + 1; node 0 is none */
    size_t symbol_count;
    size_t node_count, known; /* nodes in the block; those whose parents are known by now */
    uint64_t frames, bytes;   /* of the stacks so far */
    struct sfb_stack_items items;
};

struct sfb_tree *sfb_tree_new(void); /* NULL: no memory */
void sfb_tree_free(struct sfb_tree *tree);

/* Begins a block. @return false: its columns contradict themselves */
bool sfb_tree_begin(struct sfb_tree *tree, struct sfb_reader *nodes, struct sfb_reader *nodes_high,
                    struct sfb_reader *symbols);

/*
 * Gives the stack that is put on `parent`, with so many new nodes.
 *
 * @return its size; it lies in tree->items.bytes. 0: there is no such stack, or it is too
 * much for a block. Then the block is not read any further: what it may cost is bounded.
 */
size_t sfb_tree_stack(struct sfb_tree *tree, uint32_t parent, uint64_t added);

#endif
