/*
 * The walk behind the front doors: the fast walk where rules are cached, else the walker. Between two
 * steps both stand on the same frame.
 */
#ifndef SFB_UNWIND_CAPTURE_CAPTURE_WALK_H
#define SFB_UNWIND_CAPTURE_CAPTURE_WALK_H

#include "sframe_backtrace.h"
#include "unwind/capture/fast_walk.h"
#include "unwind/capture/memo.h"
#include "unwind/machine/arch.h"
#include "unwind/process/live_memory.h"
#include "unwind/walk/walk_state.h"

struct sfb_capture_walk {
    struct sfb_fast_walk fast; /* goes on from the frame reached */
    struct sfb_memo_walk memo;
    struct sfb_walk walker; /* started when first needed, from its anchor */
};

/* @return end of the known stack around sp: a fast walk may read up to it; 0: nothing */
static inline uint64_t sfb_capture_walk_limit(const struct sfb_memory *stack, uint64_t sp)
{
    return sp - stack->lo < stack->hi - stack->lo && (sp & 7) == 0 ? stack->hi : 0;
}

/* Options that few walks need. */
struct sfb_capture_walk_options {
    const void *stack; /* readable bytes; ignored unless sp is in them; may be NULL */
    size_t stack_size;
    uint32_t work; /* the budget */
    bool doubt;    /* revalidate known pages and modules with the kernel */
};

/*
 * Starts a walk on its first frame.
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
    out->walker.spurious = false;
    sfb_memory_live(&out->walker.own_memory, regs.sp, kind == SFB_FRAME_RA);
    s->pc = regs.pc;
    s->sp = regs.sp;
    s->fp = regs.fp;
    s->key = regs.pc + (kind == SFB_FRAME_PC);
    s->hi =
        flags & SFB_WALKER_NO_CACHE ? 0 : sfb_capture_walk_limit(&out->walker.own_memory, regs.sp);
    s->bounded = false;
    sfb_seen_modules_begin(&s->seen);
    out->memo.memo = NULL;
}

/* Called after sfb_capture_walk_begin(), before the first step. */
void sfb_capture_walk_set_options(struct sfb_capture_walk *walk,
                                  const struct sfb_capture_walk_options *wishes);

/*
 * Makes the walk read its stack by options->read. Called last before the first step.
 *
 * @param options  borrowed until the walk ends
 */
void sfb_capture_walk_read_by(struct sfb_capture_walk *walk,
                              const struct sframe_backtrace_options *options);

/* Tells whether the walk has a trail: `user` of its memory. A caller's memory has a user, but no plain loads. */
static inline bool sfb_capture_walk_has_trail(const struct sfb_capture_walk *walk)
{
    const struct sfb_memory *memory = &walk->walker.own_memory;

    return memory->user && memory->lo != memory->hi;
}

/*
 * Makes the walk use a memo from its present frame on, unless the memo is idle.
 *
 * @param hashed  the walk's end computes a hash
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

/* @return the memo in which the fast walk records its frames; NULL: it records nothing */
static inline struct sfb_memo_walk *sfb_capture_walk_memo(struct sfb_capture_walk *walk)
{
    return walk->memo.memo && !walk->memo.beyond ? &walk->memo : NULL;
}

/* Walks on until it reaches known stack, so that later walks from there or further in know it too. */
void sfb_capture_walk_learn(struct sfb_capture_walk *walk);

/*
 * Ends the walk.
 *
 * @param complete  it stands on the outermost frame
 * @param status    SFB_END, or why it ends here
 * @param hash      see sfb_memo_end(); written if the walk has a memo; NULL: not wanted
 */
static inline void sfb_capture_walk_end(struct sfb_capture_walk *walk, bool complete,
                                        enum sfb_status status, struct sfb_memo_hash *hash)
{
    if (walk->memo.memo)
        sfb_memo_end(&walk->memo, walk->fast.sp, complete, hash);
    if (sfb_capture_walk_has_trail(walk)) {
        if (status == SFB_FRAME_LIMIT || status == SFB_BUFFER_FULL)
            sfb_capture_walk_learn(walk);
        sfb_stack_trail_end(&walk->walker.own_memory);
    }
}

/*
 * Status of a walk that the fast walk ended at an outermost frame. SFB_UNPROVEN_END if the walker took
 * an unproven step before.
 */
static inline enum sfb_status sfb_capture_walk_outermost(const struct sfb_capture_walk *walk)
{
    return walk->walker.unproven ? SFB_UNPROVEN_END : SFB_END;
}

/* Tells after a walk whether its last frame is not real: see sfb_walker_is_spurious(). */
static inline bool sfb_capture_walk_is_spurious(const struct sfb_capture_walk *walk)
{
    return walk->walker.spurious;
}

/* Validates the memo, which has the walk's frame: sfb_memo_check(). */
void sfb_capture_walk_memo_hit(struct sfb_capture_walk *walk, uint32_t room);

/* Records a frame that the fast walk reached and that did not fit the sink. */
static inline void sfb_capture_walk_sink_full(struct sfb_capture_walk *walk)
{
    if (walk->memo.memo && walk->memo.matched == 0 &&
        sfb_fast_walk_record(&walk->fast, &walk->memo))
        sfb_capture_walk_memo_hit(walk, UINT32_MAX);
}

/* Starts the walker from anchor, anchor_kind, flags and own_memory. The first frame counts as given. */
void sfb_capture_walk_begin_walker(struct sfb_walk *walker);

/*
 * Takes one step with the walker, from where the fast walk ended.
 *
 * @return as sfb_walker_next(); on SFB_OK walker.current is the new frame
 */
enum sfb_status sfb_capture_walk_step(struct sfb_capture_walk *walk);

#endif
