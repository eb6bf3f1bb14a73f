/* The stack of an allocation: walked with the thread's own memo, and looked up by its hash. */
#ifndef PROFILER_AGENT_LIVE_WALK_H
#define PROFILER_AGENT_LIVE_WALK_H

#include <stdint.h>

#include "profiler/agent/live/live_stacks.h"
#include "profiler/agent/live/table.h"
#include "sfb/context.h"

/*
 * @param caller  where the program called the hook: see sfb_stack_name()
 * @return the stack, until it is freed: sfb_live_stack_keep(); id 0: not stored
 */
struct sfb_live_name sfb_live_walk(struct sfb_live_thread *thread, const struct sfb_regs *caller);

/* Frees the memory of a thread at its exit. NULL: does nothing. */
void sfb_live_walk_free(struct sfb_live_walk *walk);

#endif
