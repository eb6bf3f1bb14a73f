#include "unwind/capture/seen_modules.h"

#include "unwind/process/loader.h"
#include "unwind/process/loader_state.h"

uint64_t sfb_module_found_at[SFB_MODULE_PERMANENT];

static inline bool ask(struct sfb_seen_modules *s, uint32_t id)
{
    const uint64_t count = sfb_load_count();

    s->count = count == 0 ? SFB_SEEN_UNKNOWN : count;
    return sfb_seen_modules_has(s, id);
}

bool sfb_seen_modules_ask(struct sfb_seen_modules *s, uint32_t id)
{
    return ask(s, id);
}

/* (Not inlined: the walk needs its stack only while it asks the loader.) */
static __attribute__((noinline)) bool find(struct sfb_seen_modules *s, uint32_t id, uint64_t pc)
{
    if (!sfb_module_is_loaded(id, pc, s->count == SFB_SEEN_DOUBT))
        return false;
    s->id[id % SFB_SEEN_MODULES] = (uint8_t)(id / SFB_SEEN_MODULES + 1);
    sfb_load_count_prove();
    /* If the count has changed meanwhile, it is unknown at which count the module was mapped. */
    if (s->count == sfb_load_count())
        __atomic_store_n(&sfb_module_found_at[id], s->count, __ATOMIC_RELAXED);
    return true;
}

bool sfb_seen_modules_check(struct sfb_seen_modules *s, uint32_t id, uint64_t pc)
{
    if (id == 0)
        return false;
    if (s->count == SFB_SEEN_UNASKED ? ask(s, id) : sfb_seen_modules_has(s, id))
        return true;
    return find(s, id, pc);
}
