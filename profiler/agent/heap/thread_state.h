/* A thread takes a ring at its first event, and marks it as ended at its exit. */
#ifndef PROFILER_AGENT_HEAP_THREAD_STATE_H
#define PROFILER_AGENT_HEAP_THREAD_STATE_H

#include <stdbool.h>

#include "profiler/agent/heap/event.h"
#include "profiler/agent/space.h"

/* Memory that the heap agent needs besides the shared memory. */
extern const struct sfb_space_kind sfb_heap_space;

/*
 * Called once, before threads are made: maps their memory, and creates the key for their exits. @return false: one of the
 * two failed
 */
bool sfb_heap_threads_prepare(void);

/*
 * Takes a ring for the calling thread.
 *
 * @return NULL: no ring is free, or nothing is recorded; the loss is counted
 *
 * Signals: safe. Changes errno.
 */
struct sfb_heap_thread *sfb_heap_thread_begin(void);

/* In the child of fork(): the calling thread has no ring yet, and no other thread exists. */
void sfb_heap_threads_forget(void);

#endif
