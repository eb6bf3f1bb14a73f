#include "profiler/agent/cpu/thread_end.h"

#include <pthread.h>

#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_life.h"

enum { ROUNDS = 3, KEYS_IN_THREAD = 32 };

static pthread_key_t key;
static bool has_key;

/*
 * Destructors run in rounds, up to four, as long as one of them sets a value again. Other destructors' CPU time belongs
 * to the thread too: this one does its work in the third round.
 */
static void end(const void *value)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    struct sfb_thread *t = sfb_thread_own();

    if (!t || (const void *)t != value)
        return;
    if (++t->rounds < ROUNDS && pthread_setspecific(key, t) == 0)
        return;
    local->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!sfb_agent_is_over())
        sfb_thread_look_at_name(t);
    sfb_thread_end(t);
    local->gone = true;
    local->thread = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->busy = false;
}

static void on_end(void *value)
{
    if (!sfb_agent_is_here())
        return;
    sfb_agent_enter();
    end(value);
    sfb_agent_leave();
}

bool sfb_thread_end_prepare(void)
{
    has_key = pthread_key_create(&key, on_end) == 0;
    return has_key;
}

void sfb_thread_end_watch(void)
{
    /* Values of the first keys are stored in the thread itself; later ones would be allocated. */
    if (has_key && key < KEYS_IN_THREAD)
        pthread_setspecific(key, sfb_thread_local.thread);
}
