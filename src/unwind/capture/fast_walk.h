/*
 * The fast walk: takes frames with cached rules in one loop, until a frame needs more. It gives the
 * same frames as the walker, only faster: walker.c is the reference.
 */
#ifndef SFB_UNWIND_CAPTURE_FAST_WALK_H
#define SFB_UNWIND_CAPTURE_FAST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "unwind/capture/seen_modules.h"
#include "unwind/capture/tail_ring.h"
#include "unwind/process/module_cache.h"

struct sfb_memo_walk;

struct sfb_fast_walk {
    uint64_t pc, sp, fp; /* of the frame reached */
    uint64_t key;        /* of that frame in the rule cache: rule_cache.h */
    uint64_t hi;         /* the stack is readable in [sp, hi); 0: no word of it */

    uint64_t word; /* of the rule cache: the rule that led to the frame */
    struct sfb_seen_modules seen;
    bool by_eh_frame; /* the rule is from .eh_frame; else from .sframe */
    bool bounded;     /* hi must stay within the budget, which may end on this stack */
};

enum sfb_fast_walk_end {
    SFB_FAST_WALK_NEEDS_WALKER, /* the walker must find the caller of the frame reached */
    SFB_FAST_WALK_CHECK_MODULE, /* the same, unless sfb_fast_walk_check_module() says otherwise */
    SFB_FAST_WALK_OUTERMOST,    /* the frame reached has no caller */
    SFB_FAST_WALK_SINK_FULL,    /* the frame reached is new, and did not fit or needs the encoder */
    SFB_FAST_WALK_MEMO_HIT,     /* the memo has the frame reached, which was taken */
    SFB_FAST_WALK_MEMO_DIVERGED /* its caller is not the memo's next frame */
};

/* Counts of frames by source. */
struct sfb_fast_walk_count {
    uint32_t frames, by_eh_frame;
};

/* @return the source of the frame reached */
enum sfb_source sfb_fast_walk_source(const struct sfb_fast_walk *s);

/*
 * Each starts behind the frame that s has reached, and goes as far as it can. All frames given are
 * return addresses.
 *
 * @param memo  every frame taken is recorded there; NULL: not recorded
 *
 * Threads, signals: safe.   Cost: 1 to 5 ns a frame.
 */

/*
 * Checks that the frame's module is still mapped. Once per walk and module; permanent modules are
 * skipped.
 *
 * @return true: it is, and the walk may go on
 */
bool sfb_fast_walk_check_module(struct sfb_fast_walk *s);

/* Gives each address to *out, up to end. */
enum sfb_fast_walk_end sfb_fast_walk_addresses(struct sfb_fast_walk *s, void ***out, void **end,
                                               struct sfb_memo_walk *memo);

/* The same, and counts them; it may end in SFB_FAST_WALK_CHECK_MODULE. */
enum sfb_fast_walk_end sfb_fast_walk_counted_addresses(struct sfb_fast_walk *s, void ***out,
                                                       void **end,
                                                       struct sfb_fast_walk_count *count,
                                                       struct sfb_memo_walk *memo);

/*
 * Encodes up to `left` frames, behind a frame that the encoder has.
 *
 * @param sources  count->by_eh_frame is counted
 */
enum sfb_fast_walk_end sfb_fast_walk_cbf(struct sfb_fast_walk *s, struct sfb_cbf_encoder *encoder,
                                         uint32_t left, struct sfb_fast_walk_count *count,
                                         bool sources, struct sfb_memo_walk *memo);

/* Pushes each frame on the ring of outermost frames. */
enum sfb_fast_walk_end sfb_fast_walk_tail(struct sfb_fast_walk *s, struct sfb_tail_ring *outer);

/* Leaves out *skip frames, and counts them down. */
enum sfb_fast_walk_end sfb_fast_walk_skip(struct sfb_fast_walk *s, uint32_t *skip);

/*
 * The same over the memo's frames, from a matched one, for as long as the stack is unchanged. They never end with
 * SFB_FAST_WALK_NEEDS_WALKER, _CHECK_MODULE or _MEMO_HIT. Cost: 1 ns a frame.
 */
enum sfb_fast_walk_end sfb_fast_walk_memo_addresses(struct sfb_fast_walk *s, void ***out,
                                                    void **end, struct sfb_fast_walk_count *count,
                                                    struct sfb_memo_walk *memo);
enum sfb_fast_walk_end sfb_fast_walk_memo_cbf(struct sfb_fast_walk *s,
                                              struct sfb_cbf_encoder *encoder, uint32_t left,
                                              struct sfb_fast_walk_count *count,
                                              struct sfb_memo_walk *memo);

/*
 * Records in the memo the frame reached, if the sink had no room and its caller took the frame itself;
 * or the first frame of a walk or of a part of it.
 *
 * @return whether the memo had it
 */
bool sfb_fast_walk_record(struct sfb_fast_walk *s, struct sfb_memo_walk *memo);
bool sfb_fast_walk_record_first(const struct sfb_fast_walk *s, struct sfb_memo_walk *memo);

#endif
