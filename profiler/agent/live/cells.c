#include "profiler/agent/live/cells.h"

#include "profiler/agent/live/map.h"

static uint32_t pop(const struct sfb_live_area *a)
{
    uint64_t head = __atomic_load_n(&a->cells->free, __ATOMIC_ACQUIRE), next;
    uint32_t first;

    do {
        first = (uint32_t)head;
        if (first == 0 || first >= a->room) /* the program may have overwritten it */
            return 0;
        next = ((head >> 32) + 1) << 32 |
               __atomic_load_n(sfb_live_cell_next(a, first), __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&a->cells->free, &head, next, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    __atomic_fetch_sub(&a->cells->free_count, 1, __ATOMIC_RELAXED);
    return first;
}

/* Takes a cell that was never used. */
static uint32_t take_new(const struct sfb_live_area *a)
{
    const struct sfb_live_part part = { (uint64_t)(a->at - (uint8_t *)a->map), SFB_LIVE_CELL,
                                        a->room };
    uint32_t cell = __atomic_load_n(&a->cells->used, __ATOMIC_RELAXED);

    do {
        if (cell == 0 || cell >= a->room ||
            !sfb_live_map_grow(a->map, &part, &a->cells->ready, cell + 1))
            return 0;
    } while (!__atomic_compare_exchange_n(&a->cells->used, &cell, cell + 1, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return cell;
}

uint32_t sfb_live_cell_take(const struct sfb_live_area *a)
{
    const uint32_t cell = pop(a);

    return cell ? cell : take_new(a);
}

void sfb_live_cells_give(const struct sfb_live_area *a, uint32_t first, uint32_t last,
                         uint32_t count)
{
    uint64_t head = __atomic_load_n(&a->cells->free, __ATOMIC_RELAXED), next;

    do {
        __atomic_store_n(sfb_live_cell_next(a, last), (uint32_t)head, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | first;
    } while (!__atomic_compare_exchange_n(&a->cells->free, &head, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    __atomic_fetch_add(&a->cells->free_count, count, __ATOMIC_RELAXED);
}

uint32_t sfb_live_cells_left(const struct sfb_live_area *a)
{
    const uint32_t used = __atomic_load_n(&a->cells->used, __ATOMIC_RELAXED),
                   given = __atomic_load_n(&a->cells->free_count, __ATOMIC_RELAXED);

    return (used < a->room ? a->room - used : 0) + (given <= used ? given : 0);
}
