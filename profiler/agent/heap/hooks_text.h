/* Entry points of strdup() and strndup(): see hooks.h. */
#ifndef PROFILER_AGENT_HEAP_HOOKS_TEXT_H
#define PROFILER_AGENT_HEAP_HOOKS_TEXT_H

#include "profiler/agent/heap/hooks.h"

char *sfb_heap_strdup(const char *text, SFB_HEAP_CALLER);
char *sfb_heap_strndup(const char *text, size_t most, SFB_HEAP_CALLER);

#endif
