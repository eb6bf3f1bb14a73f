/*
 * Names stacks: by the hash that sframe_backtrace_addresses() gives, for agents that meet the same few stacks millions
 * of times. The memo knows most of such a stack, and no address is written down.
 *
 * One of it belongs to one thread. Its owner sees to it that a signal handler does not use it meanwhile.
 */
#ifndef SFB_UNWIND_CAPTURE_STACK_NAME_H
#define SFB_UNWIND_CAPTURE_STACK_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/context.h"
#include "sframe_backtrace.h"

enum { SFB_STACK_NAME_FRAMES = 1024 }; /* the outer end of a deeper stack is cut off */

/* All zero before its first use. Pages of it that were never needed are never written. */
struct sfb_stack_namer {
    _Alignas(8) uint8_t memo[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(SFB_STACK_NAME_FRAMES)];
    void *addresses[SFB_STACK_NAME_FRAMES]; /* of a walk that the memo alone could not do */
};

/*
 * Names the stack whose first frame is that of a caller.
 *
 * @param caller  registers as they are behind the call; the pc is the address that it returns to
 * @return never 0
 *
 * Signals: safe, but for one that interrupts another use of the same namer.
 * Cost: 1 ns a frame that the memo has, 3 to 6 ns a new one; 60 ns more for a walk that the memo alone cannot do.
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
