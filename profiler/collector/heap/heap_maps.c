#include "profiler/collector/heap/heap_maps.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* @return the first mapping that ends after an address */
static size_t first_behind(const struct sfb_heap_maps *m, uint64_t address)
{
    size_t low = 0, high = m->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (m->at[middle].pointer + m->at[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sfb_heap_maps_take(struct sfb_heap_maps *m, uint64_t address, uint64_t size,
                        struct sfb_heap_block *out)
{
    const size_t i = first_behind(m, address);

    if (i == m->count || m->at[i].pointer >= address + size)
        return false;
    *out = m->at[i];
    memmove(&m->at[i], &m->at[i + 1], (--m->count - i) * sizeof *m->at);
    return true;
}

bool sfb_heap_maps_add(struct sfb_heap_maps *m, const struct sfb_heap_block *map)
{
    const size_t i = first_behind(m, map->pointer);
    struct sfb_heap_block *at =
        array_grow(m->at, m->count, &m->room, sizeof *at, SFB_HEAP_MAPS_MAX);

    if (!at)
        return false;
    m->at = at;
    memmove(&m->at[i + 1], &m->at[i], (m->count++ - i) * sizeof *m->at);
    m->at[i] = *map;
    return true;
}

void sfb_heap_maps_free(struct sfb_heap_maps *m)
{
    free(m->at);
    *m = (struct sfb_heap_maps){ 0 };
}
