#include "unwind/capture/capture_walk.h"

#include <string.h>

#include "unwind/machine/arch.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/walk/position.h"
#include "unwind/walk/walker.h"

/* Begins a part of the walk: frames up to the next step of the walker. */
static void begin_part(struct sfb_capture_walk *walk, uint32_t room)
{
    if (walk->fast.hi != 0 && sfb_fast_walk_record_first(&walk->fast, &walk->memo))
        sfb_capture_walk_memo_hit(walk, room);
}

/* @return how far a fast walk may read with the work left: each frame takes at least a word */
static uint64_t limit_of_work(const struct sfb_memory *stack, uint64_t sp, uint32_t work)
{
    uint64_t hi = sfb_capture_walk_limit(stack, sp), room = (uint64_t)work * 8;

    return hi != 0 && hi - sp > room ? sp + room : hi;
}

void sfb_capture_walk_set_options(struct sfb_capture_walk *walk,
                                  const struct sfb_capture_walk_options *wishes)
{
    struct sfb_memory *memory = &walk->walker.own_memory;
    uint64_t sp = walk->fast.sp;

    if (sp - (uintptr_t)wishes->stack < wishes->stack_size)
        sfb_memory_vouched(memory, (uintptr_t)wishes->stack, wishes->stack_size);
    else if (wishes->doubt)
        sfb_memory_doubted(memory);
    if (wishes->doubt)
        walk->fast.seen.count = SFB_SEEN_DOUBT;
    walk->fast.bounded = true;
    walk->walker.work = wishes->work;
    walk->fast.hi = limit_of_work(memory, sp, wishes->work);
}

static bool read_by_caller(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    const struct sframe_backtrace_options *options = memory->user;

    return (address & 7) == 0 && options->read(options->read_user, address, out);
}

void sfb_capture_walk_read_by(struct sfb_capture_walk *walk,
                              const struct sframe_backtrace_options *options)
{
    walk->walker.own_memory =
        (struct sfb_memory){ .read = read_by_caller, .user = (void *)(uintptr_t)options };
    walk->fast.hi = 0; /* no plain loads: no fast walk, and no memo */
}

void sfb_capture_walk_memo_hit(struct sfb_capture_walk *walk, uint32_t room)
{
    sfb_memo_check(&walk->memo, walk->fast.hi, room, &walk->fast.seen);
}

void sfb_capture_walk_take_memo(struct sfb_capture_walk *walk, void *storage, size_t size,
                                bool hashed, uint32_t room)
{
    sfb_memo_begin(&walk->memo, storage, size, walk->fast.hi, hashed);
    if (walk->memo.memo)
        begin_part(walk, room);
}

static void walk_on(struct sfb_capture_walk *walk)
{
    uint32_t skip = UINT32_MAX;
    enum sfb_fast_walk_end end;

    while (sfb_capture_walk_has_trail(walk)) {
        end = sfb_fast_walk_skip(&walk->fast, &skip);
        if (end == SFB_FAST_WALK_OUTERMOST || skip == 0)
            return;
        if ((end != SFB_FAST_WALK_CHECK_MODULE || !sfb_fast_walk_check_module(&walk->fast)) &&
            sfb_capture_walk_step(walk) != SFB_OK)
            return;
    }
}

void sfb_capture_walk_learn(struct sfb_capture_walk *walk)
{
    walk->memo.memo = NULL;
    walk_on(walk);
    walk->walker.spurious = false; /* such a frame was not given */
}

/* The kernel's signal frame, and room to spare. A step further than that has changed stacks. */
#define SIGNAL_FRAME_MAX (32u << 10)

/* Updates the trail after a step. hi: end of the walk's memory before the step */
static __attribute__((noinline)) void follow_trail(struct sfb_capture_walk *walk, uint64_t hi)
{
    struct sfb_walk *w = &walk->walker;

    if (w->current.source == SFB_SOURCE_SIGNAL && w->regs.sp - walk->fast.sp > SIGNAL_FRAME_MAX)
        w->own_memory.user = NULL;
    else if (w->own_memory.hi != hi)
        sfb_stack_trail_follow(&w->own_memory, hi);
}

void sfb_capture_walk_begin_walker(struct sfb_walk *walker)
{
    sfb_walker_start(walker, walker->anchor, (enum sfb_frame_kind)walker->anchor_kind,
                     walker->flags, sfb_modules_live(walker->flags & SFB_WALKER_DOUBT), NULL);
    walker->begun = true;
}

enum sfb_status sfb_capture_walk_step(struct sfb_capture_walk *walk)
{
    struct sfb_walk *walker = &walk->walker;
    struct sfb_fast_walk *s = &walk->fast;
    enum sfb_status status;
    uint64_t work = 1;

    if (!walker->begun)
        sfb_capture_walk_begin_walker(walker);
    /* A fast walk always moves sp. If sp is unchanged, the walker is on this frame and knows more of it. */
    if (s->sp != walker->regs.sp) {
        work += (s->sp - walker->regs.sp) / 8;
        sfb_walker_resume(walker, s->pc, s->sp, s->fp);
    }
    if (!sfb_walker_spend(walker, work))
        return SFB_WORK_LIMIT;
    s->word =
        walker->own_memory.hi; /* scratch: the word led here and is used up; stack is scarce */
    status = sfb_walker_step(walker);
    if (status != SFB_OK)
        return status;
    if (sfb_capture_walk_has_trail(walk))
        follow_trail(walk, s->word);
    s->pc = walker->regs.pc;
    s->sp = walker->regs.sp;
    s->fp = walker->regs.fp;
    s->key = s->pc + (walker->current.kind == SFB_FRAME_PC);
    s->hi = walker->sp_lost || walker->flags & SFB_WALKER_NO_CACHE
                ? 0
                : sfb_capture_walk_limit(walker->memory, walker->regs.sp);
    if (s->bounded && s->hi != 0)
        s->hi = limit_of_work(walker->memory, walker->regs.sp, walker->work);
    if (walk->memo.memo) {
        sfb_memo_discard_inner(&walk->memo);
        begin_part(walk, UINT32_MAX);
    }
    return SFB_OK;
}
