/* A thread whose heap is recorded takes a ring at its first event, and gives it back at its end. */
#ifndef SFB_RECORD_HEAP_THREAD_H
#define SFB_RECORD_HEAP_THREAD_H

#include <stdbool.h>

#include "record/heap/event.h"
#include "record/space.h"

/* What the heap agent has besides the shared memory. */
extern const struct sfb_space_kind sfb_heap_space;

/* Once, before threads are made: their memory, and their ends. @return false: something is missing */
bool sfb_heap_threads_prepare(void);

/*
 * Takes a ring for the calling thread.
 *
 * @return NULL: there is none, or nothing is recorded here; what is lost by that is counted
 *
 * Signals: safe. Changes errno.
 */
struct sfb_heap_thread *sfb_heap_thread_begin(void);

/* In the child of fork(): the calling thread has no ring, and no other thread is there. */
void sfb_heap_threads_forget(void);

#endif
