/*
 * Freed blocks whose tail names no slot: foreign, overrun, or allocated past the agent.
 */
#ifndef PROFILER_AGENT_LIVE_UNKNOWN_H
#define PROFILER_AGENT_LIVE_UNKNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/live/table.h"

/* A module allocates and frees past the hooks. From now on, a block without a tail may be its own. */
void sfb_live_bypassed(void);

/* A block was freed in a nested call: it keeps its slot until the allocator gives out its address again. */
void sfb_live_missed(void);

/* A table begins. */
void sfb_live_unknown_begin(struct sfb_live *map);

static inline bool sfb_live_is_bypassed(const struct sfb_live_table *table)
{
    return __builtin_expect(
        __atomic_load_n(&table->map->flags, __ATOMIC_RELAXED) & SFB_LIVE_BYPASSED, 0);
}

/*
 * A block was freed unseen: past the agent, unless nested calls were missed. Others of this kind may have been taken for
 * overrun ones.
 */
void sfb_live_note_unseen(const struct sfb_live_table *table);

/*
 * Judges and counts a block whose tail names no slot, and which has no mark. It is foreign, or its tail is overwritten and
 * a slot still has its address. A search takes up to 10 us, and at most a hundredth of the time is spent on searches.
 *
 * @return its slot; 0: no slot, or not searched completely
 */
uint32_t sfb_live_find_unknown(const struct sfb_live_table *table, const void *p, size_t usable);

#endif
