#include "recorder/heap_replay.h"

#include "recorder/heap_account.h"

/* As much may the clocks of two processors, and the order in which each reads its own, be apart. */
static const uint64_t apart_ns = 20000;

static void allocate(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    const struct sfb_heap_block block = { .pointer = a->pointer,
                                          .size = a->size,
                                          .time = a->time,
                                          .site = a->site,
                                          .slack = a->slack,
                                          .chain = a->chain };

    if (p->heap->blocks >= p->heap->blocks_max || !sfb_heap_table_add(&p->table, &block)) {
        p->unplaced++;
        return;
    }
    p->heap->blocks++;
    sfb_heap_account_allocation(p, a);
}

static void release(struct sfb_heap_process *p, struct sfb_heap_block *at,
                    const struct sfb_heap_action *a)
{
    const struct sfb_heap_block block = *at;

    sfb_heap_table_remove(&p->table, at);
    p->heap->blocks--;
    sfb_heap_account_free(p, &block, a);
}

/* What it contradicts does not come any more: a free was lost, or is of a block from before. */
static void force(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    struct sfb_heap_block *block = sfb_heap_table_find(&p->table, a->pointer);

    if (a->frees && block) {
        release(p, block, a);
    } else if (a->frees) {
        p->unknown++;
    } else {
        if (block) {
            p->conflicts++;
            release(p, block, NULL);
        }
        allocate(p, a);
    }
}

/* Events of an address that wait, as far as they can happen; all of them, if they do not wait any longer. */
static void settle(struct sfb_heap_process *p, uint64_t pointer, bool all)
{
    struct sfb_heap_action a;

    while (sfb_heap_aside_take(&p->aside, &a, pointer,
                               sfb_heap_table_find(&p->table, pointer) != NULL, all))
        force(p, &a);
}

static void settle_old(struct sfb_heap_process *p, uint64_t time)
{
    const uint64_t apart = sfb_heap_clock_counts(&p->heap->clock, apart_ns);
    const struct sfb_heap_action *first;

    while ((first = sfb_heap_aside_first(&p->aside)) && first->time + apart < time)
        settle(p, first->pointer, true);
}

static void set_aside(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    const struct sfb_heap_action *first;

    while (!sfb_heap_aside_add(&p->aside, a)) {
        first = sfb_heap_aside_first(&p->aside);
        if (!first) {
            force(p, a); /* no memory */
            return;
        }
        settle(p, first->pointer, true);
    }
}

static void pass(struct sfb_heap_process *p, uint64_t time)
{
    if (sfb_heap_aside_first(&p->aside))
        settle_old(p, time);
    if (time >= p->next_state)
        sfb_heap_process_pass(p, time);
    if (time > p->time)
        p->time = time;
}

void sfb_heap_replay(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    struct sfb_heap_block *block;

    pass(p, a->time);
    if (sfb_heap_aside_has(&p->aside, a->pointer)) {
        set_aside(p, a);
        settle(p, a->pointer, false);
        return;
    }
    block = sfb_heap_table_find(&p->table, a->pointer);
    if (a->frees != (block != NULL))
        set_aside(p, a);
    else if (block)
        release(p, block, a);
    else
        allocate(p, a);
}

bool sfb_heap_replay_take(struct sfb_heap_process *p, struct sfb_heap_block *out, uint64_t pointer)
{
    struct sfb_heap_block *block =
        sfb_heap_aside_has(&p->aside, pointer) ? NULL : sfb_heap_table_find(&p->table, pointer);

    if (!block)
        return false;
    *out = *block;
    sfb_heap_table_remove(&p->table, block);
    p->heap->blocks--;
    return true;
}

void sfb_heap_replay_return(struct sfb_heap_process *p, const struct sfb_heap_block *block)
{
    if (sfb_heap_table_find(&p->table, block->pointer) || !sfb_heap_table_add(&p->table, block)) {
        p->conflicts++;
        sfb_heap_account_free(p, block, NULL);
        return;
    }
    p->heap->blocks++;
}

/* --- mappings ------------------------------------------------------------------------------------ */

static void put_map(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    const struct sfb_heap_block map = {
        .pointer = a->pointer, .size = a->size, .time = a->time, .site = a->site, .chain = a->chain
    };

    if (!sfb_heap_maps_add(&p->maps, &map))
        p->unplaced++;
    else
        sfb_heap_account_allocation(p, a);
}

/* What is left of a mapping that has lost a part, as if it was mapped again. */
static void put_rest(struct sfb_heap_process *p, const struct sfb_heap_block *map, uint64_t from,
                     uint64_t to, const struct sfb_heap_action *cause)
{
    const struct sfb_heap_action rest = { .time = cause->time,
                                          .pointer = from,
                                          .size = to - from,
                                          .thread = cause->thread,
                                          .site = map->site,
                                          .chain = map->chain,
                                          .reallocates = true };

    if (from < to)
        put_map(p, &rest);
}

static void unmap(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    const uint64_t end = a->pointer + a->size;
    struct sfb_heap_block map;
    uint64_t from = a->pointer;

    while (from < end && sfb_heap_maps_take(&p->maps, from, end - from, &map)) {
        const uint64_t map_end = map.pointer + map.size;

        sfb_heap_account_free(p, &map, a);
        put_rest(p, &map, map.pointer, a->pointer, a);
        put_rest(p, &map, end, map_end, a);
        from = map_end;
    }
}

/* A mapping may be put over others. What is unmapped may be nobody's: a loader's, or none. */
void sfb_heap_replay_map(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    pass(p, a->time);
    unmap(p, a);
    if (!a->frees)
        put_map(p, a);
}

void sfb_heap_replay_end(struct sfb_heap_process *p)
{
    const struct sfb_heap_action *first;

    while ((first = sfb_heap_aside_first(&p->aside)))
        settle(p, first->pointer, true);
}
