#include "profiler/collector/heap/heap_replay.h"

#include "profiler/collector/heap/heap_account.h"

/* The most by which two processors' clocks, and the order of their readings, differ. */
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
        p->dropped++;
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

/* Counts an event without its partner, whose agent may never have seen that. */
static void count_alone(struct sfb_heap_process *p, uint64_t *count)
{
    if (p->bypassed)
        p->unseen++;
    else
        ++*count;
}

/* The contradicting event does not come any more: a free was lost, or the block is older than the recording. */
static void force(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    struct sfb_heap_block *block = sfb_heap_table_find(&p->table, a->pointer);

    if (a->frees && block) {
        release(p, block, a);
    } else if (a->frees) {
        count_alone(p, &p->unknown);
    } else {
        if (block) {
            count_alone(p, &p->conflicts);
            release(p, block, NULL);
        }
        allocate(p, a);
    }
}

/* Replays the deferred events of an address, as far as they are possible; with `all`, every one. */
static void settle(struct sfb_heap_process *p, uint64_t pointer, bool all)
{
    struct sfb_heap_action a;

    while (sfb_heap_deferred_take(&p->deferred, &a, pointer,
                                  sfb_heap_table_find(&p->table, pointer) != NULL, all))
        force(p, &a);
}

static void settle_old(struct sfb_heap_process *p, uint64_t time)
{
    const uint64_t apart = sfb_heap_clock_counts(&p->heap->clock, apart_ns);
    const struct sfb_heap_action *first;

    while ((first = sfb_heap_deferred_first(&p->deferred)) && first->time + apart < time)
        settle(p, first->pointer, true);
}

static void defer(struct sfb_heap_process *p, const struct sfb_heap_action *a)
{
    const struct sfb_heap_action *first;

    while (!sfb_heap_deferred_add(&p->deferred, a)) {
        first = sfb_heap_deferred_first(&p->deferred);
        if (!first) {
            force(p, a); /* no memory */
            return;
        }
        settle(p, first->pointer, true);
    }
}

static void pass(struct sfb_heap_process *p, uint64_t time)
{
    if (sfb_heap_deferred_first(&p->deferred))
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
    if (sfb_heap_deferred_has(&p->deferred, a->pointer)) {
        defer(p, a);
        settle(p, a->pointer, false);
        return;
    }
    block = sfb_heap_table_find(&p->table, a->pointer);
    if (a->frees != (block != NULL))
        defer(p, a);
    else if (block)
        release(p, block, a);
    else
        allocate(p, a);
}

bool sfb_heap_replay_take(struct sfb_heap_process *p, struct sfb_heap_block *out, uint64_t pointer)
{
    struct sfb_heap_block *block = sfb_heap_deferred_has(&p->deferred, pointer)
                                       ? NULL
                                       : sfb_heap_table_find(&p->table, pointer);

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
        p->dropped++;
    else
        sfb_heap_account_allocation(p, a);
}

/* Records the rest of a mapping that has lost a part as a new mapping. */
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

/* A mapping may replace others. An unmapped range may be unknown (the loader's) or not mapped at all. */
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

    while ((first = sfb_heap_deferred_first(&p->deferred)))
        settle(p, first->pointer, true);
}
