/*
 * pthread_create() and thrd_create(): a new thread takes a ring and starts its timer first. Both end after the last of
 * its pthread_key destructors.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_entry.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

/* In thread_entry_*.S. */
extern sfb_thread_routine sfb_thread_entry;

SFB_INTERPOSED int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                  void *(*start_routine)(void *), void *arg)
{
    struct sfb_thread_start *start = NULL;
    int result;

    if (sfb_agent_is_here())
        start = sfb_thread_start_take(start_routine, arg);
    if (!start)
        return sfb_real()->pthread_create(thread, attr, start_routine, arg);
    result = sfb_real()->pthread_create(thread, attr, sfb_thread_entry, start);
    if (result != 0)
        sfb_thread_start_give_back(start);
    return result;
}

/* C11. The C library's does not call pthread_create(). Both kinds of routine have the same calling convention. */
SFB_INTERPOSED int thrd_create(thrd_t *thr, thrd_start_t func, void *arg)
{
    struct sfb_thread_start *start = NULL;
    int result;

    if (sfb_agent_is_here())
        start = sfb_thread_start_take((sfb_thread_routine *)(void (*)(void))func, arg);
    if (!start)
        return sfb_real()->thrd_create(thr, func, arg);
    result = sfb_real()->thrd_create(thr, (thrd_start_t)(void (*)(void))sfb_thread_entry, start);
    if (result != thrd_success)
        sfb_thread_start_give_back(start);
    return result;
}
