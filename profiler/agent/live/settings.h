/* Whether the environment asks for a live table. */
#ifndef PROFILER_AGENT_LIVE_SETTINGS_H
#define PROFILER_AGENT_LIVE_SETTINGS_H

#include <stdbool.h>

/* Begins a live table if SFB_HEAP_LIVE gives its size. Prints errors on stderr. @return whether there is a table */
bool sfb_live_start_by_environment(void);

#endif
