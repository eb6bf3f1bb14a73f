/*
 * The stacks of a block as a tree: the outermost frame is next to the root, and a node is there once, however many
 * stacks go through it. What a stack adds to the tree is little.
 */
#ifndef SFB_RECORDING_STACK_TREE_H
#define SFB_RECORDING_STACK_TREE_H

#include "recording/bytes.h"
#include "recording/stack_items.h"

struct sfb_stack_tree; /* opaque: about 1.6 MiB */

/* Where a stack lies: on `parent`, with `added` nodes that follow it from there. Node 0 stands for no node. */
struct sfb_stack_place {
    uint32_t parent, added;
};

struct sfb_stack_tree *sfb_stack_tree_open(void); /* NULL: no memory */
void sfb_stack_tree_close(struct sfb_stack_tree *tree);

/* @return whether the tree had room for it; else nothing has changed */
bool sfb_stack_tree_add(struct sfb_stack_tree *tree, const struct sfb_stack_items *items,
                        size_t size, struct sfb_stack_place *out);

/* Writes the columns of nodes and symbols, and empties the tree. */
void sfb_stack_tree_write(struct sfb_stack_tree *tree, struct sfb_bytes *nodes,
                          struct sfb_bytes *nodes_high, struct sfb_bytes *symbols);

/* @return bytes that they will take, about */
size_t sfb_stack_tree_size(const struct sfb_stack_tree *tree);

#endif
