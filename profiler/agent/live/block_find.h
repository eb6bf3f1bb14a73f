/* The blocks that addresses point into. */
#ifndef PROFILER_AGENT_LIVE_BLOCK_FIND_H
#define PROFILER_AGENT_LIVE_BLOCK_FIND_H

#include <stddef.h>
#include <stdint.h>

#include "sframe_backtrace_record.h"

typedef void (*sfb_live_find_visitor)(void *user, size_t index,
                                      const struct sframe_backtrace_heap_block *block);

/* sframe_backtrace_heap_find(). Signals: safe. */
enum sfb_status sfb_live_find(const uint64_t *addresses, size_t count, sfb_live_find_visitor visit,
                              void *user);

#endif
