/*
 * What of the calling thread's own stack is known to be mapped. Found out once a thread, not once a
 * walk.
 *
 *     lo          gap_lo        gap_hi              hi
 *     | known ... | not believed | known ...         |
 *     ^ the deepest walk so far  ^ a frame of more than 16 KiB lies in the gap
 */
#ifndef SFB_UNWIND_PROCESS_KNOWN_STACK_H
#define SFB_UNWIND_PROCESS_KNOWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/memory.h"

/*
 * Multiples of 8. Written by its own thread, and by signal handlers that run on it. No gap: gap_lo
 * and gap_hi are hi. Nothing is known: all are 0.
 */
struct sfb_known_stack {
    volatile uint64_t lo, gap_lo, gap_hi, hi;
    volatile uint32_t rest; /* walks for which there is no trail */
};

/* In the static TLS block, which is there before a thread is: no access to it allocates. */
extern _Thread_local struct sfb_known_stack sfb_known_stack
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * The trail of a walk: where one that began below what is known came along. If it gets to what is
 * known, all of that is one stack, and known from then on.
 *
 * It stands in `user` of the walk's memory, for little stack: the address of its first page, and in
 * the bits below how many pages further out the gap begins, 0: there is none. NULL: nothing is to
 * be learnt from this walk.
 */

/* Begins a trail if sp may be on the calling thread's own stack, and is not known. */
void sfb_stack_trail_begin(struct sfb_memory *memory, uint64_t sp);

/* A step of the walk took its memory, which ended at hi, to where it is now. There is a trail. */
void sfb_stack_trail_follow(struct sfb_memory *memory, uint64_t hi);

/* The walk is over. If it did not arrive, others will not for a while. */
void sfb_stack_trail_end(struct sfb_memory *memory);

/*
 * False while a static-pie program relocates itself: no thread-local variable may be touched then,
 * and nothing be captured. (The first test is for speed: set once at load.)
 */
extern bool sfb_process_is_set_up __attribute__((visibility("hidden")));
bool sfb_thread_is_set_up(void);

static inline bool sfb_may_capture(void)
{
    return __builtin_expect(sfb_process_is_set_up, 1) || sfb_thread_is_set_up();
}

/* @return whether address is known; then in [lo, hi), which are untouched otherwise */
static inline bool sfb_known_stack_range(uint64_t address, uint64_t *lo, uint64_t *hi)
{
    const struct sfb_known_stack *known = &sfb_known_stack;
    bool inner = address >= known->lo && address < known->gap_lo;

    if (!inner && !(address >= known->gap_hi && address < known->hi))
        return false;
    *lo = inner ? known->lo : known->gap_hi;
    *hi = inner ? known->gap_lo : known->hi;
    return true;
}

static inline bool sfb_known_stack_has(uint64_t address)
{
    uint64_t lo, hi;

    return sfb_known_stack_range(address, &lo, &hi);
}

#endif
