/* Whether the environment asks for a live table. */
#ifndef SFB_RECORD_LIVE_ENVIRONMENT_H
#define SFB_RECORD_LIVE_ENVIRONMENT_H

#include <stdbool.h>

/* Begins one if SFB_HEAP_LIVE says how large. What is wrong is said on stderr. @return whether there is one */
bool sfb_live_start_by_environment(void);

#endif
