/*
 * Cells of 32 bytes in the map: stacks, and pieces of their CBF. Threads take and free them without a lock. Free cells are a
 * linked stack; its count of changes makes a pop fail that other threads have overtaken.
 *
 * The first word of a cell is its link.
 */
#ifndef PROFILER_AGENT_LIVE_CELLS_H
#define PROFILER_AGENT_LIVE_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/live/table.h"

struct sfb_live_area {
    struct sfb_live *map;
    struct sfb_live_cells *cells;
    uint8_t *at;
    uint32_t room;
};

static inline struct sfb_live_area sfb_live_stacks_of(const struct sfb_live_table *table)
{
    return (struct sfb_live_area){ table->map, &table->map->stacks, (uint8_t *)table->stacks,
                                   table->stack_room };
}

static inline struct sfb_live_area sfb_live_pieces_of(const struct sfb_live_table *table)
{
    return (struct sfb_live_area){ table->map, &table->map->pieces, (uint8_t *)table->pieces,
                                   table->piece_room };
}

static inline uint32_t *sfb_live_cell_next(const struct sfb_live_area *area, uint32_t cell)
{
    return (uint32_t *)(void *)(area->at + (uint64_t)cell * SFB_LIVE_CELL);
}

/* @return a cell; 0: all are taken, or no memory */
uint32_t sfb_live_cell_take(const struct sfb_live_area *area);

/* Frees a chain of cells, which are linked from the first to the last. */
void sfb_live_cells_give(const struct sfb_live_area *area, uint32_t first, uint32_t last,
                         uint32_t count);

/* @return cells that can still be taken */
uint32_t sfb_live_cells_left(const struct sfb_live_area *area);

#endif
