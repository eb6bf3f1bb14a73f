/* How a live table begins: for the program's call, and for the environment. */
#ifndef SFB_RECORD_LIVE_API_H
#define SFB_RECORD_LIVE_API_H

#include <stdbool.h>

#include "sframe_backtrace_record.h"

/* Who hooks the allocator. NULL in a test: nobody does. */
struct sfb_live_hooks {
    bool (*begin)(void); /* blocks get a tail from now on. @return false: they are recorded */
    void (*end)(void);
};

void sfb_live_use_hooks(const struct sfb_live_hooks *given);

/* @param log  where dumps by a signal go, borrowed for good; NULL: options->dump_fd */
enum sfb_status sfb_live_begin(const struct sframe_backtrace_heap_options *options,
                               const char *log);

#endif
