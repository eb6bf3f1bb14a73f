#include "profiler/agent/cpu/thread_entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/cpu/sampler.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_end.h"
#include "profiler/agent/cpu/thread_life.h"

enum { STARTS = 4096 }; /* threads created but not yet begun */

struct sfb_thread_start {
    uint32_t taken;
    bool blocks; /* SIGPROF as the program sees it */
    sfb_thread_routine *routine;
    void *argument;
};

static struct sfb_thread_start starts[STARTS];
struct sfb_thread_start *sfb_thread_start_take(sfb_thread_routine *routine, void *argument)
{
    static uint32_t next;

    for (unsigned i = 0; i < STARTS; i++) {
        struct sfb_thread_start *s =
            &starts[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % STARTS];

        if (__atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE))
            continue;
        s->blocks = sfb_thread_local.blocks;
        s->routine = routine;
        s->argument = argument;
        return s;
    }
    sfb_agent_lose(SFB_LOSS_NO_RING);
    return NULL;
}

void sfb_thread_start_give_back(struct sfb_thread_start *s)
{
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

sfb_thread_routine *sfb_thread_entry_begin(struct sfb_thread_start *s, void **argument)
{
    sfb_thread_routine *routine = s->routine;
    bool blocks = s->blocks;

    *argument = s->argument;
    sfb_thread_start_give_back(s);
    if (!sfb_agent_is_here())
        return routine;
    sfb_prof_signal_begin_thread(blocks);
    /* Recorded from CPU time 0: all of its life was in this process. */
    if (!sfb_agent_is_over() && sfb_thread_begin(0))
        sfb_thread_end_watch();
    sfb_sampler_start_if_needed();
    return routine;
}
