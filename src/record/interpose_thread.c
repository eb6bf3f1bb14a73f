/*
 * pthread_create() and thrd_create(): the new thread takes a ring and starts its timer first, and ends both with the
 * last of its pthread_key destructors.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include "record/interpose.h"
#include "record/prof_signal.h"
#include "record/real.h"
#include "record/thread.h"
#include "record/thread_entry.h"

/* In thread_entry_*.S. */
extern sfb_thread_routine sfb_thread_entry;

SFB_INTERPOSED int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                                  void *(*routine)(void *), void *argument)
{
    struct sfb_thread_start *start = NULL;
    int result;

    if (sfb_agent_is_here())
        start = sfb_thread_start_take(routine, argument);
    if (!start)
        return sfb_real()->pthread_create(out, attributes, routine, argument);
    result = sfb_real()->pthread_create(out, attributes, sfb_thread_entry, start);
    if (result != 0)
        sfb_thread_start_give_back(start);
    return result;
}

/* C11's: the C library does not come by pthread_create() for it. Both kinds of routine are called alike. */
SFB_INTERPOSED int thrd_create(thrd_t *out, thrd_start_t routine, void *argument)
{
    struct sfb_thread_start *start = NULL;
    int result;

    if (sfb_agent_is_here())
        start = sfb_thread_start_take((sfb_thread_routine *)(void (*)(void))routine, argument);
    if (!start)
        return sfb_real()->thrd_create(out, routine, argument);
    result = sfb_real()->thrd_create(out, (thrd_start_t)(void (*)(void))sfb_thread_entry, start);
    if (result != thrd_success)
        sfb_thread_start_give_back(start);
    return result;
}
