/*
 * The walk over frames whose rules are in the rule cache: frame after frame in one loop, until one
 * needs more than that. What it gives is what the walker would give, only sooner: walker.c is the
 * reference.
 */
#ifndef SFB_UNWIND_STRIDE_H
#define SFB_UNWIND_STRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "unwind/modules.h"
#include "unwind/outer.h"

struct sfb_memo_walk;

/* So many modules of which it is remembered: stacks that go through more of them ask anew. */
enum { SFB_STRIDE_IN_PLACE = 16 };

struct sfb_stride {
    uint64_t pc, sp, fp; /* of the frame reached */
    uint64_t key;        /* of that frame in the rule cache: see there */
    uint64_t hi;         /* words of the stack in [sp, hi) can be read; 0: no stride can be made */

    uint64_t word;    /* of the rule cache, that led there */
    bool by_eh_frame; /* what the rule came from; else .sframe */
    bool doubt;       /* ask the kernel of each module */
    bool bounded;     /* hi is to be kept within the budget, which may end on this very stack */

    /* Modules that are known to be there, until this walk ends: see sfb_stride_is_in_place(). */
    uint8_t in_place[SFB_STRIDE_IN_PLACE];
};

/* Of a module that could be unloaded: whether it was found there before, by this walk. */
static inline bool sfb_stride_is_in_place(const struct sfb_stride *s, uint32_t id)
{
    return s->in_place[id % SFB_STRIDE_IN_PLACE] == id / SFB_STRIDE_IN_PLACE + 1;
}

static inline void sfb_stride_set_in_place(struct sfb_stride *s, uint32_t id)
{
    s->in_place[id % SFB_STRIDE_IN_PLACE] = (uint8_t)(id / SFB_STRIDE_IN_PLACE + 1);
}

enum sfb_stride_end {
    SFB_STRIDE_ASK,       /* what comes behind the frame reached, the walker has to say */
    SFB_STRIDE_LOOK,      /* the same, unless sfb_stride_look() says otherwise */
    SFB_STRIDE_OUTERMOST, /* nothing comes behind it */
    SFB_STRIDE_REFUSED,   /* the frame reached is new, and found no room or was no common one */
    SFB_STRIDE_KNOWN,     /* the memo has the frame reached, which was taken */
    SFB_STRIDE_PARTED     /* what comes behind it is not what the memo has */
};

/* Counts of frames by what they were found with. */
struct sfb_stride_count {
    uint32_t frames, by_eh_frame;
};

/* @return what found the frame reached */
enum sfb_source sfb_stride_source(const struct sfb_stride *s);

/*
 * Strides start behind the frame that s has reached and go as far as they can. All frames that they
 * give are return addresses.
 *
 * @param memo  NULL: none; else it is told of every frame taken
 *
 * Threads, signals: safe.   Cost: 1 to 5 ns a frame.
 */

/*
 * Looks for the module that the rule of the frame reached is of, once in a walk for each one that
 * could have been unloaded.
 *
 * @return whether it is there, and the next stride may go on
 */
bool sfb_stride_look(struct sfb_stride *s);

/* Gives each address to *out, up to end. */
enum sfb_stride_end sfb_stride_addresses(struct sfb_stride *s, void ***out, void **end,
                                         struct sfb_memo_walk *memo);

/* The same, and counts them; it may end in SFB_STRIDE_LOOK. */
enum sfb_stride_end sfb_stride_counted_addresses(struct sfb_stride *s, void ***out, void **end,
                                                 struct sfb_stride_count *count,
                                                 struct sfb_memo_walk *memo);

/* Encodes up to `left` frames, behind one that is there already. */
enum sfb_stride_end sfb_stride_cbf(struct sfb_stride *s, struct sfb_cbf_encoder *encoder,
                                   uint32_t left, struct sfb_stride_count *count,
                                   struct sfb_memo_walk *memo);

/* Keeps the outermost. */
enum sfb_stride_end sfb_stride_outer(struct sfb_stride *s, struct sfb_outer *outer);

/* Leaves out *skip frames, and counts them down. */
enum sfb_stride_end sfb_stride_skip(struct sfb_stride *s, uint32_t *skip);

/*
 * The same over frames that the memo has, from one that it knows, for as long as the stack is what
 * it was. They end in all ways but SFB_STRIDE_ASK, _LOOK and _KNOWN. Cost: 1 ns a frame.
 */
enum sfb_stride_end sfb_stride_known_addresses(struct sfb_stride *s, void ***out, void **end,
                                               struct sfb_stride_count *count,
                                               struct sfb_memo_walk *memo);
enum sfb_stride_end sfb_stride_known_cbf(struct sfb_stride *s, struct sfb_cbf_encoder *encoder,
                                         uint32_t left, struct sfb_stride_count *count,
                                         struct sfb_memo_walk *memo);

/*
 * Tells the memo of the frame reached, where a stride was refused and its user took it all the
 * same; or of the one that a walk, or a part of it, starts with.
 *
 * @return whether the memo knows it
 */
bool sfb_stride_remember(struct sfb_stride *s, struct sfb_memo_walk *memo);
bool sfb_stride_remember_first(const struct sfb_stride *s, struct sfb_memo_walk *memo);

#endif
