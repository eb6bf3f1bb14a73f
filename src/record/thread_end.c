#include "record/thread_end.h"

#include <pthread.h>

#include "record/thread.h"
#include "record/thread_life.h"

enum { ROUNDS = 3, KEYS_IN_THREAD = 32 };

static pthread_key_t key;
static bool has_key;

/*
 * Destructors come in rounds, as long as any has set a value anew, at most four. The CPU time of other ones is the
 * thread's, too: so ours does its work in the third.
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
    /* The first keys have their place in the thread; others would be allocated. */
    if (has_key && key < KEYS_IN_THREAD)
        pthread_setspecific(key, sfb_thread_local.thread);
}
