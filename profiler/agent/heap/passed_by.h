/*
 * Modules that call the C library's allocator by its second names, as __libc_malloc(). The agent does not define these:
 * such blocks are allocated or freed past it.
 */
#ifndef PROFILER_AGENT_HEAP_PASSED_BY_H
#define PROFILER_AGENT_HEAP_PASSED_BY_H

#include <stdint.h>

/*
 * Counts such modules among those loaded now. The next allocator itself does not count: the agent calls it.
 *
 * Signals: NOT safe: it takes the loader's lock.   Cost: a look at each symbol that modules import.
 */
uint32_t sfb_heap_passed_by(void);

#endif
