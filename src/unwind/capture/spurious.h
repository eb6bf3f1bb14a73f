/* A frame that was given, and turned out not to be real: see sfb_walker_is_spurious(). */
#ifndef SFB_UNWIND_CAPTURE_SPURIOUS_H
#define SFB_UNWIND_CAPTURE_SPURIOUS_H

#include "sframe_backtrace.h"
#include "unwind/capture/capture_walk.h"

/*
 * Removes it from the counts.
 *
 * @param callee  pc of the frame before; 0: that frame was not given
 */
void sfb_spurious_discount(struct sframe_backtrace_info *info, const struct sfb_capture_walk *walk,
                           uint64_t callee);

#endif
