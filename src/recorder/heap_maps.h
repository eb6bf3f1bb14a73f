/* The mappings of a process that mmap() gave and that are still there, by their addresses. */
#ifndef RECORDER_HEAP_MAPS_H
#define RECORDER_HEAP_MAPS_H

#include <stddef.h>

#include "recorder/heap_table.h"

struct sfb_heap_maps {
    struct sfb_heap_block *at; /* ascending; they do not overlap */
    size_t count, room;
};

enum { SFB_HEAP_MAPS_MAX = 1 << 20 };

/*
 * Takes out the first mapping that a range has a part of.
 *
 * @param out  it, whole
 */
bool sfb_heap_maps_take(struct sfb_heap_maps *maps, uint64_t address, uint64_t size,
                        struct sfb_heap_block *out);

/* Adds one that overlaps no other. @return false: no memory, or too many */
bool sfb_heap_maps_add(struct sfb_heap_maps *maps, const struct sfb_heap_block *map);

void sfb_heap_maps_free(struct sfb_heap_maps *maps);

#endif
