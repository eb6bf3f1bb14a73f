#include "profiler/agent/live/unknown.h"

#include <string.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/live/live_stacks.h"
#include "profiler/agent/live/neighbours.h"
#include "profiler/agent/live/tail_word.h"
#include "unwind/process/pages.h"

#define SWEEP_FREE_NS ((uint64_t)20000000)
#define SWEEP_SHARE   100

enum { SWEEP_SLOTS = 1 << 12 }; /* searched by one free() */

static bool bypassed; /* for good: a library may stay loaded after its last dlclose() */
static bool missed;   /* a free() of a nested call */
static uint64_t swept_ns, since;

void sfb_live_unknown_begin(struct sfb_live *map)
{
    if (__atomic_load_n(&bypassed, __ATOMIC_RELAXED))
        map->flags |= SFB_LIVE_BYPASSED;
    __atomic_store_n(&swept_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&since, sfb_now(), __ATOMIC_RELAXED);
}

void sfb_live_bypassed(void)
{
    struct sfb_live_table table;

    __atomic_store_n(&bypassed, true, __ATOMIC_RELAXED);
    if (sfb_live_table_now(&table) != 0)
        __atomic_fetch_or(&table.map->flags, SFB_LIVE_BYPASSED, __ATOMIC_RELAXED);
}

void sfb_live_missed(void)
{
    __atomic_store_n(&missed, true, __ATOMIC_RELAXED);
}

static uint32_t sweep(const struct sfb_live_table *table, const void *p, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const uint64_t block = __atomic_load_n(&table->slots[i].block, __ATOMIC_RELAXED);

        if (sfb_live_address(block) == (uintptr_t)p && sfb_live_is_block(block))
            return i;
    }
    return 0;
}

/*
 * Searches for the slot of a block whose tail does not name it. The search of free() is bounded. In a large table it
 * covers only the slots that the tail can have named before an overrun changed its first 12 bits.
 *
 * @param all  written: whether all slots were searched
 */
static uint32_t look_for(const struct sfb_live_table *table, const void *p, size_t usable,
                         bool *all)
{
    const uint32_t used = __atomic_load_n(&table->map->slots_used, __ATOMIC_RELAXED);
    uint32_t near;

    *all = used <= SWEEP_SLOTS;
    if (*all)
        return sweep(table, p, 1, used);
    near =
        usable >= SFB_LIVE_TAIL ? sfb_live_tail_of(p, usable) & ~(uint32_t)(SWEEP_SLOTS - 1) : used;
    if (near >= used)
        return 0;
    return sweep(table, p, near, used - near > SWEEP_SLOTS ? near + SWEEP_SLOTS : used);
}

void sfb_live_note_unseen(const struct sfb_live_table *table)
{
    struct sfb_live *map = table->map;
    const uint32_t used = __atomic_load_n(&map->stacks.used, __ATOMIC_RELAXED);

    if (__atomic_load_n(&missed, __ATOMIC_RELAXED))
        return;
    sfb_live_bypassed();
    sfb_live_count_up(&map->unseen,
                      __atomic_exchange_n(&map->counts.overruns, 0, __ATOMIC_RELAXED));
    for (uint32_t id = 1; id < used && id < table->stack_room; id++)
        if (__atomic_load_n(&table->stacks[id].overruns, __ATOMIC_RELAXED) > 0)
            __atomic_store_n(&table->stacks[id].overruns, 0, __ATOMIC_RELAXED);
}

enum finding {
    OVERRUN, /* its tail is overwritten */
    HEADER, /* the allocator's word before the block is overwritten: the block before was overrun */
    LATER,  /* it is a later block, from past the agent */
    UNCLEAR
};

/* A tail that still names its slot, where the block ended when it was allocated. */
static bool has_tail_of(uint32_t slot, uint64_t tail_at)
{
    uint32_t tail = 0;

    if (!sfb_page_probe(tail_at) || !sfb_page_probe(tail_at + SFB_LIVE_TAIL - 1))
        return false;
    memcpy(&tail, (const void *)(uintptr_t)tail_at, sizeof tail);
    return tail == slot;
}

/*
 * Judges a block whose size is not the one of its allocation. Words that an overrun wrote may look like sizes, and of a
 * block that was split or grew, its words of before may be left. So a later block takes all of this: its neighbour says
 * that it ends there; and either the chunks behind it lead to the old end, or both the old end and the old tail are gone.
 * In a process with overwritten sizes that is no proof either.
 *
 * Tried and dropped: the size alone. Five bytes past a block made a later one, and no overrun was detected from then on. A
 * third such block instead of the first: that many later blocks were overruns where the size is proof, as jemalloc has it.
 */
static enum finding judge_size(const struct sfb_live_table *table, uint32_t slot, const void *p,
                               size_t usable, uint64_t tail_at)
{
    const size_t before =
        tail_at != 0 ? (size_t)(tail_at + SFB_LIVE_TAIL - (uintptr_t)p) : 0; /* 0: unknown */

    if (usable == 0 || !sfb_live_ends_there(p, usable))
        return HEADER;
    if (before == 0 || __atomic_load_n(&table->map->headers, __ATOMIC_RELAXED) > 0)
        return UNCLEAR;
    if (usable < before && sfb_live_was_split(p, usable, before))
        return LATER;
    return has_tail_of(slot, tail_at) || sfb_live_ends_there(p, before) ? UNCLEAR : LATER;
}

/* @param slot  has the block's address */
static enum finding judge(const struct sfb_live_table *table, uint32_t slot, const void *p,
                          size_t usable)
{
    const struct sfb_live_slot *s = &table->slots[slot];
    const uint64_t block = __atomic_load_n(&s->block, __ATOMIC_RELAXED),
                   tail_at = sfb_live_tail_at(block, __atomic_load_n(&s->what, __ATOMIC_RELAXED));
    const bool differs =
        tail_at == 0 ? sfb_live_is_beside(block) : tail_at + SFB_LIVE_TAIL - (uintptr_t)p != usable;

    if (!differs)
        return OVERRUN;
    if (sfb_live_has_headers)
        return judge_size(table, slot, p, usable, tail_at);
    return usable != 0 && tail_at != 0 ? LATER : OVERRUN;
}

/*
 * Judges a block without a tail of ours. If modules bypass the agent, the slot may be an older block's, which one of
 * them has freed: such a block is counted as unseen, and no more.
 *
 * @param all  whether there is no such slot, if none was found
 */
static void judge_unknown(const struct sfb_live_table *table, uint32_t slot, const void *p,
                          size_t usable, bool all)
{
    struct sfb_live_counts *counts = &table->map->counts;
    enum finding found = UNCLEAR;

    if (slot != 0 && !sfb_live_is_bypassed(table)) {
        found = judge(table, slot, p, usable);
        if (found == LATER)
            sfb_live_note_unseen(table);
    }
    if (sfb_live_is_bypassed(table)) {
        sfb_live_count_up(&table->map->unseen, 1);
    } else if (found == HEADER) {
        sfb_live_count_up(&table->map->headers, 1);
    } else if (found == UNCLEAR || found == LATER) { /* later, but nested calls were missed */
        sfb_live_count_up(slot == 0 && all ? &counts->foreign : &counts->unidentified, 1);
    } else {
        sfb_live_count_up(&counts->overruns, 1);
        sfb_live_stack_overrun(
            table, sfb_live_stack_of(__atomic_load_n(&table->slots[slot].what, __ATOMIC_RELAXED)));
    }
}

uint32_t sfb_live_find_unknown(const struct sfb_live_table *table, const void *p, size_t usable)
{
    const uint64_t now = sfb_now();
    uint32_t slot = 0;
    bool all = false;

    if (__atomic_load_n(&swept_ns, __ATOMIC_RELAXED) >
        SWEEP_FREE_NS + (now - __atomic_load_n(&since, __ATOMIC_RELAXED)) / SWEEP_SHARE) {
        judge_unknown(table, slot, p, usable, all);
        return 0;
    }
    slot = look_for(table, p, usable, &all);
    sfb_live_count_up(&swept_ns, sfb_now() - now);
    judge_unknown(table, slot, p, usable, all);
    return slot;
}
