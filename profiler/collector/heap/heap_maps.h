/* The live mappings that mmap() made in a process, by address. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_MAPS_H
#define PROFILER_COLLECTOR_HEAP_HEAP_MAPS_H

#include <stddef.h>

#include "profiler/collector/heap/heap_table.h"

struct sfb_heap_maps {
    struct sfb_heap_block *at; /* ascending, without overlap */
    size_t count, room;
};

enum { SFB_HEAP_MAPS_MAX = 1 << 20 };

/*
 * Takes out the first mapping that overlaps a range.
 *
 * @param out  the whole mapping
 */
bool sfb_heap_maps_take(struct sfb_heap_maps *maps, uint64_t address, uint64_t size,
                        struct sfb_heap_block *out);

/* Adds a mapping that overlaps no other. @return false: no memory, or too many */
bool sfb_heap_maps_add(struct sfb_heap_maps *maps, const struct sfb_heap_block *map);

void sfb_heap_maps_free(struct sfb_heap_maps *maps);

#endif
