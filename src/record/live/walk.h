/* The stack of an allocation: walked with a memo of the thread's own, and looked up by its hash. */
#ifndef SFB_RECORD_LIVE_WALK_H
#define SFB_RECORD_LIVE_WALK_H

#include <stdint.h>

#include "record/live/table.h"

/*
 * @param skip  frames of the agent between this call and the program
 * @return id of the stack; 0: there is none, which is counted
 */
uint32_t sfb_live_walk(struct sfb_live_thread *thread, unsigned skip);

/* Memory of a thread that ends. NULL is none. */
void sfb_live_walk_free(struct sfb_live_walk *walk);

#endif
