/*
 * The known stack: the part of the calling thread's own stack that is known to be mapped. Found out
 * once a thread, not once a walk.
 *
 *     lo          gap_lo        gap_hi              hi
 *     | known ... | not trusted  | known ...         |
 *     ^ the deepest walk so far  ^ a frame of more than 16 KiB lies in the gap
 */
#ifndef SFB_UNWIND_PROCESS_KNOWN_STACK_H
#define SFB_UNWIND_PROCESS_KNOWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/memory.h"

/*
 * Multiples of 8. Written by its own thread, and by signal handlers that run on it. Without a gap,
 * gap_lo and gap_hi are hi. All 0: nothing is known.
 */
struct sfb_known_stack {
    volatile uint64_t lo, gap_lo, gap_hi, hi;
    volatile uint32_t rest; /* further walks without a trail */
    volatile uint32_t lost; /* trails that failed since the last success; up to a maximum */
};

/* In the static TLS block, which is made before the thread runs: no access to it allocates. */
extern _Thread_local struct sfb_known_stack sfb_known_stack
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * The trail: the pages passed by a walk that began below the known stack. If the walk reaches the
 * known stack, all of them are one stack, and known from then on.
 *
 * To save stack, the trail is kept in `user` of the walk's memory: the address of its first page. The
 * bits below the page's address count the pages from there to the gap; 0: no gap. NULL: this walk
 * has no trail.
 */

/* Begins a trail if sp may be on the calling thread's own stack, and is not known. */
void sfb_stack_trail_begin(struct sfb_memory *memory, uint64_t sp);

/* Extends the walk's trail after a step. hi: end of the walk's memory before the step */
void sfb_stack_trail_follow(struct sfb_memory *memory, uint64_t hi);

/* Ends the trail with its walk. If it did not reach known stack, some later walks have no trail. */
void sfb_stack_trail_end(struct sfb_memory *memory);

/*
 * False while a static-pie program relocates itself: then no thread-local variable may be touched,
 * and no stack captured. (The first test is for speed: set once at load.)
 */
extern bool sfb_process_is_set_up __attribute__((visibility("hidden")));
bool sfb_thread_is_set_up(void);

static inline bool sfb_may_capture(void)
{
    return __builtin_expect(sfb_process_is_set_up, 1) || sfb_thread_is_set_up();
}

/* @return whether address is on the known stack. lo, hi: written on true, the known range around it */
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
