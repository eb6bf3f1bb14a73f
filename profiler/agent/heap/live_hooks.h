/* Begins and ends the live table (profiler/agent/live/live.h), which takes the place of a recording. */
#ifndef PROFILER_AGENT_HEAP_LIVE_HOOKS_H
#define PROFILER_AGENT_HEAP_LIVE_HOOKS_H

#include <stdbool.h>

/* Called before the first block. Begins a table if the environment asks for it. @return whether there is one */
bool sfb_heap_table_look(void);

/* From now on the program may begin a table itself. */
void sfb_heap_table_prepare(void);

#endif
