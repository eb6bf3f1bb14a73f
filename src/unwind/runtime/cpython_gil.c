/*
 * take_gil() sets `locked`, then `last_holder`; drop_gil() sets `last_holder`, then clears `locked`. A thread that waits sleeps in
 * pthread_cond_timedwait() on the GIL's condition, again each 5 ms. One that was asked to give it back also waits there, on the
 * second condition, until another has taken it.
 */
#include "unwind/runtime/cpython_gil.h"

#include "base/memory.h"

uint64_t sfb_cpython_gil_at(const struct sfb_cpython *c, struct sfb_memory *memory, uint64_t state)
{
    const struct sfb_cpython_layout *l = c->layout;
    uint64_t interpreter, gil;

    if (l->minor == 11)
        return c->place.runtime + l->gil;
    if (!sfb_memory_read(memory, state + l->thread_interpreter, &interpreter) ||
        !sfb_memory_read(memory, interpreter + l->gil, &gil) || (gil & 7) != 0)
        return 0;
    return gil;
}

bool sfb_cpython_gil_holder(uint64_t *holder, struct sfb_memory *memory, uint64_t gil)
{
    uint64_t locked;

    if (gil == 0 || !sfb_memory_read(memory, gil + SFB_CPYTHON_GIL_LOCKED, &locked) ||
        !sfb_memory_read(memory, gil + SFB_CPYTHON_GIL_HOLDER, holder))
        return false;
    switch ((uint32_t)locked) {
    case 0: *holder = 0; return true;
    case 1: return *holder != 0;
    default: return false; /* not yet made: -1 */
    }
}

enum sfb_cpython_gil sfb_cpython_gil_of(uint64_t *gil, const struct sfb_cpython *c,
                                        struct sfb_memory *memory, const uint64_t *states,
                                        unsigned count)
{
    enum sfb_cpython_gil found = SFB_CPYTHON_GIL_UNKNOWN;

    *gil = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t at = sfb_cpython_gil_at(c, memory, states[i]);
        uint64_t holder;

        if (!sfb_cpython_gil_holder(&holder, memory, at))
            continue;
        if (holder == states[i]) {
            *gil = at;
            return SFB_CPYTHON_GIL_HELD;
        }
        if (*gil == 0)
            *gil = at;
        found = SFB_CPYTHON_GIL_RELEASED;
    }
    return found;
}

bool sfb_cpython_gil_has(uint64_t gil, uint64_t futex)
{
    return gil != 0 && futex - (gil + SFB_CPYTHON_GIL_WAITS) < SFB_CPYTHON_GIL_WAITS_SIZE;
}
