/*
 * Modules that a walk has found to be still mapped. Each one is checked once a walk, and only if the loader has loaded or
 * unloaded something since another walk has found it.
 */
#ifndef SFB_UNWIND_CAPTURE_SEEN_MODULES_H
#define SFB_UNWIND_CAPTURE_SEEN_MODULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unwind/process/module_cache.h"

/* Modules remembered by a walk. A stack with more of them checks some again. */
enum { SFB_SEEN_MODULES = 8 };

/* In place of a count of loads: not read yet; not known; not to be used, and each module is checked with the kernel. */
#define SFB_SEEN_UNASKED UINT64_MAX
#define SFB_SEEN_UNKNOWN (UINT64_MAX - 1)
#define SFB_SEEN_DOUBT   (UINT64_MAX - 2)

struct sfb_seen_modules {
    uint64_t count; /* sfb_load_count() at the first unloadable module */
    uint8_t
        id[SFB_SEEN_MODULES]; /* hash table: index = low bits of an id, value = its high bits + 1 */
};

/* By id: the count of loads at which an unloadable module was last found. Written by all threads. */
extern uint64_t sfb_module_found_at[SFB_MODULE_PERMANENT] __attribute__((visibility("hidden")));

static inline void sfb_seen_modules_begin(struct sfb_seen_modules *s)
{
    s->count = SFB_SEEN_UNASKED;
    memset(s->id, 0, sizeof s->id);
}

/* @return whether no module was loaded or unloaded since this one was found; false before the walk has read the count */
static inline bool sfb_seen_modules_are_there(const struct sfb_seen_modules *s, uint32_t id)
{
    return __atomic_load_n(&sfb_module_found_at[id], __ATOMIC_RELAXED) == s->count;
}

/* @return the same, or this walk has found the module itself */
static inline bool sfb_seen_modules_has(const struct sfb_seen_modules *s, uint32_t id)
{
    return sfb_seen_modules_are_there(s, id) ||
           s->id[id % SFB_SEEN_MODULES] == id / SFB_SEEN_MODULES + 1;
}

/* Reads the count, once a walk. @return sfb_seen_modules_has() */
bool sfb_seen_modules_ask(struct sfb_seen_modules *s, uint32_t id);

/* @return whether the module with this id contains pc and is still mapped; asks the loader if that is not known */
bool sfb_seen_modules_check(struct sfb_seen_modules *s, uint32_t id, uint64_t pc);

#endif
