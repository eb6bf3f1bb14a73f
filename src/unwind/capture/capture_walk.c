#include "unwind/capture/capture_walk.h"

#include <string.h>

#include "unwind/machine/arch.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/walk/position.h"
#include "unwind/walk/walker.h"

/* A part of the walk that no step of the walker interrupts begins here. */
static void begin_part(struct sfb_capture_walk *walk, uint32_t room)
{
    if (walk->fast.hi != 0 && sfb_fast_walk_record_first(&walk->fast, &walk->memo))
        sfb_capture_walk_memo_hit(walk, room);
}

/* How far a fast walk may read that has so much work left: no frame takes less than a word. */
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
    walk->fast.seen.doubt = wishes->doubt;
    walk->fast.bounded = true;
    walk->walker.work = wishes->work;
    walk->fast.hi = limit_of_work(memory, sp, wishes->work);
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

void sfb_capture_walk_learn(struct sfb_capture_walk *walk)
{
    uint32_t skip = UINT32_MAX;
    enum sfb_fast_walk_end end;

    walk->memo.memo = NULL;
    while (walk->walker.own_memory.user) {
        end = sfb_fast_walk_skip(&walk->fast, &skip);
        if (end == SFB_FAST_WALK_OUTERMOST || skip == 0)
            return;
        if ((end != SFB_FAST_WALK_CHECK_MODULE || !sfb_fast_walk_check_module(&walk->fast)) &&
            sfb_capture_walk_step(walk) != SFB_OK)
            return;
    }
}

/* What the kernel writes for a signal, and room to spare: further away there is another stack. */
#define SIGNAL_FRAME_MAX (32u << 10)

/* A step was made, before which the walk's memory ended at hi. */
static __attribute__((noinline)) void follow_trail(struct sfb_capture_walk *walk, uint64_t hi)
{
    struct sfb_walk *w = &walk->walker;

    if (w->current.source == SFB_SOURCE_SIGNAL && w->regs.sp - walk->fast.sp > SIGNAL_FRAME_MAX)
        w->own_memory.user = NULL;
    else if (w->own_memory.hi != hi)
        sfb_stack_trail_follow(&w->own_memory, hi);
}

/* From the members that say it: anchor, anchor_kind, flags, own_memory. The first frame counts as given. */
static void begin_walker(struct sfb_walk *walker)
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
        begin_walker(walker);
    /* A fast walk always moves sp; where there was none, the walker knows more of the frame. */
    if (s->sp != walker->regs.sp) {
        work += (s->sp - walker->regs.sp) / 8;
        sfb_walker_resume(walker, s->pc, s->sp, s->fp);
    }
    if (!sfb_walker_spend(walker, work))
        return SFB_WORK_LIMIT;
    s->word = walker->own_memory.hi; /* it led here, and has no other use now; stack is scarce */
    status = sfb_walker_step(walker);
    if (status != SFB_OK)
        return status;
    if (walker->own_memory.user)
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
