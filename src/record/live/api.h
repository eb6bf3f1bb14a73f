/* How a live table begins: for the program's call, and for the environment. */
#ifndef SFB_RECORD_LIVE_API_H
#define SFB_RECORD_LIVE_API_H

#include "sframe_backtrace_record.h"

/* @param log  where dumps by a signal go, borrowed for good; NULL: options->dump_fd */
enum sfb_status sfb_live_begin(const struct sframe_backtrace_heap_options *options,
                               const char *log);

#endif
