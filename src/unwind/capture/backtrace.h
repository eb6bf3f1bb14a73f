/* Called by the entry points in entry_*.S, with their caller's registers. */
#ifndef SFB_UNWIND_CAPTURE_BACKTRACE_H
#define SFB_UNWIND_CAPTURE_BACKTRACE_H

#include "sfb/walk.h"
#include "sframe_backtrace.h"

ssize_t sfb_backtrace_cbf_from(void *buffer, size_t size,
                               const struct sframe_backtrace_options *options,
                               struct sframe_backtrace_info *info, struct sfb_context *caller);

ssize_t sfb_backtrace_addresses_from(void **buffer, size_t count,
                                     const struct sframe_backtrace_options *options,
                                     struct sframe_backtrace_info *info,
                                     struct sfb_context *caller);

int sfb_backtrace_from(void **buffer, int size, struct sfb_context *caller);

#endif
