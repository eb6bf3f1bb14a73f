/*
 * dlopen() itself, in dlopen_entry_*.S. The loader looks at the caller: its RUNPATH counts for a name without '/' or with
 * $ORIGIN. For such names the entry jumps to the real dlopen() instead of calling it.
 */
#ifndef PROFILER_AGENT_DLOPEN_ENTRY_H
#define PROFILER_AGENT_DLOPEN_ENTRY_H

#include <dlfcn.h>

/* @return the function to jump to with dlopen()'s arguments */
__typeof__(dlopen) *sfb_dlopen_choose(const char *name, int flags);

#endif
