/* The stack of an allocation: walked with a memo of the thread's own, and looked up by its hash. */
#ifndef SFB_RECORD_LIVE_WALK_H
#define SFB_RECORD_LIVE_WALK_H

#include <stdint.h>

#include "record/live/table.h"
#include "sfb/context.h"

/*
 * @param caller  where the program called the hook: see sfb_stack_name()
 * @return id of the stack; 0: there is none, which is counted
 */
uint32_t sfb_live_walk(struct sfb_live_thread *thread, const struct sfb_regs *caller);

/* Memory of a thread that ends. NULL is none. */
void sfb_live_walk_free(struct sfb_live_walk *walk);

#endif
