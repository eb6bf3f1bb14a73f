/*
 * The walk behind the front doors: the fast walk as far as the rule cache reaches, and the walker
 * where it does not. Between two frames both stand on the same one.
 */
#ifndef SFB_UNWIND_CAPTURE_CAPTURE_WALK_H
#define SFB_UNWIND_CAPTURE_CAPTURE_WALK_H

#include <string.h>

#include "unwind/capture/fast_walk.h"
#include "unwind/capture/memo.h"
#include "unwind/machine/arch.h"
#include "unwind/process/live_memory.h"
#include "unwind/walk/walk_state.h"

struct sfb_capture_walk {
    struct sfb_fast_walk fast; /* goes on from the frame reached */
    struct sfb_memo_walk memo;
    struct sfb_walk walker; /* begun when it is first needed, from what says where it begins */
};

/* How far a fast walk may read: to the end of what is known of the stack that sp is on. */
static inline uint64_t sfb_capture_walk_limit(const struct sfb_memory *stack, uint64_t sp)
{
    return sp - stack->lo < stack->hi - stack->lo && (sp & 7) == 0 ? stack->hi : 0;
}

/* What few walks ask for. */
struct sfb_capture_walk_options {
    const void *stack; /* bytes that can be read; they only count if sp is there. NULL: none */
    size_t stack_size;
    uint32_t work; /* the budget */
    bool doubt;    /* ask the kernel of all that is known */
};

/*
 * Stands on the first frame.
 *
 * @param start  borrowed until the walk ends, and overwritten: see sfb_walker_init()
 * @param flags  enum sfb_walker_flags
 */
static inline void sfb_capture_walk_begin(struct sfb_capture_walk *out, struct sfb_context *start,
                                          enum sfb_frame_kind kind, uint32_t flags)
{
    struct sfb_fast_walk *s = &out->fast;
    struct sfb_regs regs;

    sfb_arch_regs(&regs, start);
    out->walker.anchor = start;
    out->walker.anchor_kind = (uint8_t)kind;
    out->walker.flags = flags;
    out->walker.work = SFB_WALKER_WORK;
    out->walker.begun = false;
    out->walker.unproven = false;
    out->walker.stray = false;
    sfb_memory_live(&out->walker.own_memory, regs.sp, kind == SFB_FRAME_RA);
    s->pc = regs.pc;
    s->sp = regs.sp;
    s->fp = regs.fp;
    s->key = regs.pc + (kind == SFB_FRAME_PC);
    s->hi =
        flags & SFB_WALKER_NO_CACHE ? 0 : sfb_capture_walk_limit(&out->walker.own_memory, regs.sp);
    s->bounded = false;
    memset(&s->seen, 0, sizeof s->seen);
    out->memo.memo = NULL;
}

/* Behind sfb_capture_walk_begin(). */
void sfb_capture_walk_set_options(struct sfb_capture_walk *walk,
                                  const struct sfb_capture_walk_options *wishes);

/*
 * Has the walk use a memo from the frame on that it stands on, unless that is left alone for now.
 *
 * @param hashed  its end is asked for a hash
 * @param room    see sfb_memo_check()
 */
void sfb_capture_walk_take_memo(struct sfb_capture_walk *walk, void *storage, size_t size,
                                bool hashed, uint32_t room);

static inline void sfb_capture_walk_use_memo(struct sfb_capture_walk *walk, void *storage,
                                             size_t size, bool hashed, uint32_t room)
{
    if (!sfb_memo_rests(storage, size))
        sfb_capture_walk_take_memo(walk, storage, size, hashed, room);
}

/* @return the memo that the fast walk has to tell of its frames; NULL: none */
static inline struct sfb_memo_walk *sfb_capture_walk_memo(struct sfb_capture_walk *walk)
{
    return walk->memo.memo && !walk->memo.beyond ? &walk->memo : NULL;
}

/* Goes on to where the stack is known, for the walks that will come from there or further in. */
void sfb_capture_walk_learn(struct sfb_capture_walk *walk);

/*
 * Ends the walk.
 *
 * @param complete  it stands on the outermost frame
 * @param status    SFB_END, or why it ends here
 * @param hash      see sfb_memo_end(); written if there is a memo; NULL: not wanted
 */
static inline void sfb_capture_walk_end(struct sfb_capture_walk *walk, bool complete,
                                        enum sfb_status status, struct sfb_memo_hash *hash)
{
    if (walk->memo.memo)
        sfb_memo_end(&walk->memo, walk->fast.sp, complete, hash);
    if (walk->walker.own_memory.user) {
        if (status == SFB_FRAME_LIMIT || status == SFB_BUFFER_FULL)
            sfb_capture_walk_learn(walk);
        sfb_stack_trail_end(&walk->walker.own_memory);
    }
}

/*
 * How a walk has ended that came to an outermost frame by the fast walk: the walker may have taken a
 * step before that nothing proves.
 */
static inline enum sfb_status sfb_capture_walk_outermost(const struct sfb_capture_walk *walk)
{
    return walk->walker.unproven ? SFB_UNPROVEN_END : SFB_END;
}

/* Whether the frame that was given last is none, once a walk has ended: see sfb_walker_is_stray(). */
static inline bool sfb_capture_walk_is_stray(const struct sfb_capture_walk *walk)
{
    return walk->walker.stray;
}

/* The memo knows the frame that the walk stands on: whether it may be believed. room: see sfb_memo_check() */
void sfb_capture_walk_memo_hit(struct sfb_capture_walk *walk, uint32_t room);

/* Tells the memo of a frame that the fast walk came to and that its sink had no room for. */
static inline void sfb_capture_walk_sink_full(struct sfb_capture_walk *walk)
{
    if (walk->memo.memo && walk->memo.matched == 0 &&
        sfb_fast_walk_record(&walk->fast, &walk->memo))
        sfb_capture_walk_memo_hit(walk, UINT32_MAX);
}

/*
 * Goes to the next frame by the walker, from where the fast walk ended.
 *
 * @return what sfb_walker_next() says; on SFB_OK walker.current is the frame reached
 */
enum sfb_status sfb_capture_walk_step(struct sfb_capture_walk *walk);

#endif
