#include "profiler/agent/cpu/prof_action.h"

#include <stdint.h>

/* Enough: a reader has finished before 64 more actions are set. */
enum { PLACES = 64 };

static struct sigaction places[PLACES];
static uint32_t taken, current;

void sfb_prof_action_get(struct sigaction *out)
{
    *out = places[__atomic_load_n(&current, __ATOMIC_ACQUIRE)];
}

void sfb_prof_action_set(const struct sigaction *action)
{
    uint32_t place = __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED) % PLACES;

    places[place] = *action;
    __atomic_store_n(&current, place, __ATOMIC_RELEASE);
}
