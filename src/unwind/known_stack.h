/*
 * What of the calling thread's stack is known to be there, from the deepest place that a walk has
 * begun at so far up to the stack's end. Found out once a thread, not once a walk.
 */
#ifndef SFB_UNWIND_KNOWN_STACK_H
#define SFB_UNWIND_KNOWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Multiples of 8. Written by its own thread, and by signal handlers that run on it. */
struct sfb_known_stack {
    volatile uint64_t lo, hi; /* hi is 0, or what it will always be */
};

/* In the static TLS block, which is there before a thread is: no access to it allocates. */
extern _Thread_local struct sfb_known_stack sfb_known_stack
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Learns that the stack goes down to sp, if that is so: probes what was not known yet.
 *
 * @param running  the calling code runs on that very stack, below sp and near it, so that the page
 *                 of sp is there
 * @return whether sp is on the stack of this thread, and all of it from there on is known
 */
bool sfb_known_stack_extend(uint64_t sp, bool running);

static inline bool sfb_known_stack_has(uint64_t address)
{
    return address >= sfb_known_stack.lo && address < sfb_known_stack.hi;
}

#endif
