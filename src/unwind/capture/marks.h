/*
 * Which frames of a stack contain given addresses on it: an interpreter keeps a struct in the C frame that runs its
 * functions.
 */
#ifndef SFB_UNWIND_CAPTURE_MARKS_H
#define SFB_UNWIND_CAPTURE_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/context.h"

/* In place of a frame: no frame contains the mark. */
#define SFB_MARK_UNPLACED UINT32_MAX

struct sfb_mark {
    uint64_t at;    /* on the stack */
    uint32_t frame; /* written: its index in the walk, innermost 0 */
};

/*
 * Walks the stack anew, up to the last mark.
 *
 * @param context  ucontext_t * of a signal handler
 * @param flags    enum sframe_backtrace_flags
 * @param marks    ascending; others are not placed
 * @param most     frames of the walk
 *
 * Threads, signals: safe.   Cost: as a walk without a memo, 5 ns more a frame.
 */
void sfb_marks_place(const void *context, uint32_t flags, struct sfb_mark *marks, size_t count,
                     uint32_t most);

/* The same of a caller's stack, without libunwind. @param caller  as of sfb_stack_name() */
void sfb_marks_place_from(const struct sfb_regs *caller, struct sfb_mark *marks, size_t count,
                          uint32_t most);

#endif
