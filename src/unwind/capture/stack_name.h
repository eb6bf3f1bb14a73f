/*
 * Names stacks by the hash that sframe_backtrace_addresses() gives. For agents that meet the same few stacks millions
 * of times. The memo has most of such a stack, and no address is written.
 *
 * A namer belongs to one thread. Its owner makes sure that a signal handler does not use it at the same time.
 */
#ifndef SFB_UNWIND_CAPTURE_STACK_NAME_H
#define SFB_UNWIND_CAPTURE_STACK_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/context.h"
#include "sframe_backtrace.h"

enum { SFB_STACK_NAME_FRAMES = 1024 }; /* the outer end of a deeper stack is cut off */

/* All zero before its first use. Pages that are not needed are never written. */
struct sfb_stack_namer {
    uint64_t mapped_at; /* sfb_load_count() when the memo's modules were all mapped; 0: not known */
    _Alignas(8) uint8_t memo[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(SFB_STACK_NAME_FRAMES)];
    void *addresses[SFB_STACK_NAME_FRAMES]; /* of a walk for which the memo did not suffice */
};

/*
 * Names a stack from a caller's frame outwards.
 *
 * @param caller  registers as they are behind the call; the pc is the call's return address
 * @return never 0
 *
 * Signals: safe, but for one that interrupts another use of the same namer.
 * Cost: 1 ns a frame that the memo has, 3 to 6 ns a new one; 60 ns more where the memo does not suffice.
 */
uint64_t sfb_stack_name(struct sfb_stack_namer *namer, const struct sfb_regs *caller);

/*
 * Writes the same stack as CBF.
 *
 * @param out  a frame takes 9 bytes at most
 * @param end  written: SFB_END, or why the walk stopped
 *
 * @return bytes, or a negative sfb_status, as sframe_backtrace_cbf()
 */
ssize_t sfb_stack_name_cbf(const struct sfb_regs *caller, void *out, size_t size,
                           enum sfb_status *end);

#endif
