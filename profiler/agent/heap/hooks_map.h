/* mmap(), munmap(), mremap(): recorded if the recorder asks for them. See hooks.h. */
#ifndef PROFILER_AGENT_HEAP_HOOKS_MAP_H
#define PROFILER_AGENT_HEAP_HOOKS_MAP_H

#include "profiler/agent/heap/hooks.h"

void *sfb_heap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset,
                    SFB_HEAP_CALLER);
void *sfb_heap_mremap(void *at, size_t old_size, size_t size, int flags, void *to, size_t unused,
                      SFB_HEAP_CALLER);

#endif
