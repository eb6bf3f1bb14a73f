/* Begins a live table: for the program's call, and for the environment. */
#ifndef PROFILER_AGENT_LIVE_API_H
#define PROFILER_AGENT_LIVE_API_H

#include <stdbool.h>

#include "sframe_backtrace_record.h"

/* Switches the allocator's hooks. NULL in a test without hooks. */
struct sfb_live_hooks {
    bool (*begin)(void); /* from now on blocks get a tail. @return false: the heap is recorded */
    void (*end)(void);
};

void sfb_live_use_hooks(const struct sfb_live_hooks *given);

/* @param log  path of the file for dumps by a signal, borrowed for good; NULL: options->dump_fd */
enum sfb_status sfb_live_begin(const struct sframe_backtrace_heap_options *options,
                               const char *log);

#endif
