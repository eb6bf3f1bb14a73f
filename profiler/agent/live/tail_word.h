/* The tail of a block: its last four usable bytes. They hold its slot number, or a mark. */
#ifndef PROFILER_AGENT_LIVE_TAIL_WORD_H
#define PROFILER_AGENT_LIVE_TAIL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profiler/protocol/live.h"

static inline uint32_t sfb_live_tail_of(const void *p, size_t usable)
{
    uint32_t tail;

    memcpy(&tail, (const char *)p + usable - SFB_LIVE_TAIL, sizeof tail);
    return tail;
}

static inline void sfb_live_set_tail(void *p, size_t usable, uint32_t tail)
{
    memcpy((char *)p + usable - SFB_LIVE_TAIL, &tail, sizeof tail);
}

/* Whether the tail marks a block that got no slot. */
static inline bool sfb_live_is_marked(const void *p, size_t usable)
{
    return usable >= SFB_LIVE_TAIL && sfb_live_tail_of(p, usable) == sfb_live_mark((uintptr_t)p);
}

#endif
