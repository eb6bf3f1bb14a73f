/* Blocks of the heap that registers point into, as the live table of the heap agent knows them. */
#ifndef SFB_CRASH_BLOCKS_H
#define SFB_CRASH_BLOCKS_H

#include "crash/text.h"

/* Nothing without the agent, or its table. @param ucontext  of an SA_SIGINFO handler */
void sfb_crash_put_blocks(struct sfb_text *text, const void *ucontext);

#endif
