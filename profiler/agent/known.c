#include "profiler/agent/known.h"

#include "profiler/agent/agent.h"

enum { KNOWN_STEPS = 8 };

static uint64_t *known_at(uint64_t hash, unsigned step)
{
    return &sfb_agent.process->known[(hash + step) % SFB_SHARED_KNOWN];
}

bool sfb_known_has(uint64_t hash)
{
    for (unsigned i = 0; i < KNOWN_STEPS; i++) {
        uint64_t found = __atomic_load_n(known_at(hash, i), __ATOMIC_ACQUIRE);

        if (found == hash || found == 0)
            return found == hash;
    }
    return false;
}

/* @return false: all candidate entries are taken */
static bool add(uint64_t hash)
{
    for (unsigned i = 0; i < KNOWN_STEPS; i++) {
        uint64_t expected = 0;

        if (__atomic_compare_exchange_n(known_at(hash, i), &expected, hash, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED) ||
            expected == hash)
            return true;
    }
    return false;
}

void sfb_known_add(uint64_t hash)
{
    add(hash);
}

void sfb_known_keep(uint64_t hash)
{
    if (!add(hash))
        __atomic_store_n(known_at(hash, (unsigned)(hash >> 32) % KNOWN_STEPS), hash,
                         __ATOMIC_RELEASE);
}
