/* Recognises code of Go's compiler by its instructions: no table covers it. */
#ifndef SFB_UNWIND_MACHINE_GO_H
#define SFB_UNWIND_MACHINE_GO_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/frame.h"
#include "sfb/memory.h"
#include "sfb/walk.h"

/*
 * Tells whether a goroutine's stack ends here: its outermost function returns to the second instruction of
 * Go's `goexit`. No call is before it, and this frame has no caller.
 */
bool sfb_arch_is_goroutine_end(struct sfb_memory *code, uint64_t pc);

/*
 * Tells whether the code around pc stores the function's frame record, and at which offset from sp. Then the
 * record there is the function's own.
 *
 * @param offset  of the record, from sp
 */
bool sfb_arch_stores_record(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                            uint64_t offset);

/* The rule of `asyncPreempt`. On AArch64 also the place of its caller's link register. */
struct sfb_go_preempt {
    struct sfb_rule rule;
    int32_t lr_offset; /* from the CFA */
};

/*
 * Finds the rule of Go's `asyncPreempt` by its code. A signal handler of Go's runtime makes the interrupted
 * function seem to call it: the return address is the interrupted pc, not behind a call.
 *
 * @return whether pc is in it, at an instruction with a known rule
 *
 * Cost: the code of that one function, 450 bytes.
 */
bool sfb_arch_find_preempt(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                           struct sfb_go_preempt *out);

#endif
