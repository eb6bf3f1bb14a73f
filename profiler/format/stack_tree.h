/*
 * The stacks of a block as a tree. The outermost frame is next to the root, and stacks share the nodes of their common
 * outer frames. So a stack adds little.
 */
#ifndef PROFILER_FORMAT_STACK_TREE_H
#define PROFILER_FORMAT_STACK_TREE_H

#include "profiler/format/bytes.h"
#include "profiler/format/stack_items.h"

struct sfb_stack_tree; /* opaque: about 1.6 MiB */

/* The place of a stack in the tree: `added` nodes that continue from `parent`. Node 0 means: no node. */
struct sfb_stack_place {
    uint32_t parent, added;
};

struct sfb_stack_tree *sfb_stack_tree_open(void); /* NULL: no memory */
void sfb_stack_tree_close(struct sfb_stack_tree *tree);

/* @return false: no room in the tree; nothing has changed */
bool sfb_stack_tree_add(struct sfb_stack_tree *tree, const struct sfb_stack_items *items,
                        size_t size, struct sfb_stack_place *out);

/* Writes the columns of nodes and symbols, and empties the tree. */
void sfb_stack_tree_write(struct sfb_stack_tree *tree, struct sfb_bytes *nodes,
                          struct sfb_bytes *nodes_high, struct sfb_bytes *symbols);

/* @return their approximate size in bytes */
size_t sfb_stack_tree_size(const struct sfb_stack_tree *tree);

#endif
