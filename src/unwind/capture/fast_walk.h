/*
 * The walk over frames whose rules are in the rule cache: frame after frame in one loop, until one
 * needs more than that. What it gives is what the walker would give, only sooner: walker.c is the
 * reference.
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
    uint64_t key;        /* of that frame in the rule cache: see there */
    uint64_t hi;         /* words of the stack in [sp, hi) can be read; 0: none of it */

    uint64_t word;    /* of the rule cache, that led there */
    bool by_eh_frame; /* what the rule came from; else .sframe */
    bool bounded;     /* hi is to be kept within the budget, which may end on this very stack */

    struct sfb_seen_modules seen;
};

enum sfb_fast_walk_end {
    SFB_FAST_WALK_NEEDS_WALKER, /* what comes behind the frame reached, the walker has to say */
    SFB_FAST_WALK_CHECK_MODULE, /* the same, unless sfb_fast_walk_check_module() says otherwise */
    SFB_FAST_WALK_OUTERMOST,    /* nothing comes behind it */
    SFB_FAST_WALK_SINK_FULL, /* the frame reached is new, and found no room or was no common one */
    SFB_FAST_WALK_MEMO_HIT,  /* the memo has the frame reached, which was taken */
    SFB_FAST_WALK_MEMO_DIVERGED /* what comes behind it is not what the memo has */
};

/* Counts of frames by what they were found with. */
struct sfb_fast_walk_count {
    uint32_t frames, by_eh_frame;
};

/* @return what found the frame reached */
enum sfb_source sfb_fast_walk_source(const struct sfb_fast_walk *s);

/*
 * Each starts behind the frame that s has reached, and goes as far as it can. All frames given are
 * return addresses.
 *
 * @param memo  NULL: none; else it is told of every frame taken
 *
 * Threads, signals: safe.   Cost: 1 to 5 ns a frame.
 */

/*
 * Checks that the frame's module is still mapped. Once per walk and module; permanent modules are
 * skipped.
 *
 * @return whether it is, and the walk may go on
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

/* Encodes up to `left` frames, behind one that is there already. */
enum sfb_fast_walk_end sfb_fast_walk_cbf(struct sfb_fast_walk *s, struct sfb_cbf_encoder *encoder,
                                         uint32_t left, struct sfb_fast_walk_count *count,
                                         struct sfb_memo_walk *memo);

/* Keeps the outermost. */
enum sfb_fast_walk_end sfb_fast_walk_tail(struct sfb_fast_walk *s, struct sfb_tail_ring *outer);

/* Leaves out *skip frames, and counts them down. */
enum sfb_fast_walk_end sfb_fast_walk_skip(struct sfb_fast_walk *s, uint32_t *skip);

/*
 * The same over frames that the memo has, from one that it knows, for as long as the stack is what
 * it was. They end in all ways but SFB_FAST_WALK_NEEDS_WALKER, _CHECK_MODULE and _MEMO_HIT. Cost: 1 ns a frame.
 */
enum sfb_fast_walk_end sfb_fast_walk_memo_addresses(struct sfb_fast_walk *s, void ***out,
                                                    void **end, struct sfb_fast_walk_count *count,
                                                    struct sfb_memo_walk *memo);
enum sfb_fast_walk_end sfb_fast_walk_memo_cbf(struct sfb_fast_walk *s,
                                              struct sfb_cbf_encoder *encoder, uint32_t left,
                                              struct sfb_fast_walk_count *count,
                                              struct sfb_memo_walk *memo);

/*
 * Tells the memo of the frame reached, where the sink had no room and its user took it all the same;
 * or of the one that a walk, or a part of it, starts with.
 *
 * @return whether the memo knows it
 */
bool sfb_fast_walk_record(struct sfb_fast_walk *s, struct sfb_memo_walk *memo);
bool sfb_fast_walk_record_first(const struct sfb_fast_walk *s, struct sfb_memo_walk *memo);

#endif
