/*
 * Frees stacks without live blocks while the program runs.
 *
 * A count of blocks in each stack would be written by all threads that allocate there, at each malloc() and each free().
 * Instead a walk over all slots, a few at a time, marks the stacks of live blocks. A stack without a mark is doomed. If the
 * next walk leaves it without a mark, too, it is freed.
 *
 * A thread that names a stack holds its slot first, and then reads the stack's state: sfb_live_stack_keep(). Either it sees
 * that the stack is doomed, and rescues it; or the walk that begins after the doom sees its slot. Each side stores before it
 * loads, and needs a barrier between the two. Threads that allocate do without: before a walk membarrier() makes a barrier
 * in each running thread. If membarrier() is missing, they have barriers of their own.
 *
 * A stack with overruns is kept: dumps name it.
 */
#ifndef PROFILER_AGENT_LIVE_RECLAIM_H
#define PROFILER_AGENT_LIVE_RECLAIM_H

#include <stdbool.h>

#include "profiler/agent/live/table.h"

/* Called when a process begins a table. @return whether threads need barriers of their own */
bool sfb_live_reclaim_begin(void);

/*
 * Does a step of the walk if stacks or pieces are short and no other thread does one. Called by a thread that needs a new
 * stack.
 *
 * Signals: safe.   Cost: 2,048 slots or 128 stacks, some 10 us.
 */
void sfb_live_reclaim_step(const struct sfb_live_table *table);

#endif
