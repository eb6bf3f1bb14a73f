/* A frame that was given, and turned out to be none: see sfb_walker_is_stray(). */
#ifndef SFB_UNWIND_CAPTURE_STRAY_H
#define SFB_UNWIND_CAPTURE_STRAY_H

#include "sframe_backtrace.h"
#include "unwind/capture/capture_walk.h"

/*
 * Takes it out of the counts.
 *
 * @param callee  the frame before, as a pc; 0: it was not given
 */
void sfb_stray_discount(struct sframe_backtrace_info *info, const struct sfb_capture_walk *walk,
                        uint64_t callee);

#endif
