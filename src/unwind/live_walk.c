#include "unwind/live_walk.h"

#include <string.h>

#include "unwind/arch.h"
#include "unwind/memory.h"
#include "unwind/walker.h"

/* A part of the walk that no step of the walker interrupts begins here. */
static void begin_part(struct sfb_live_walk *walk)
{
    if (walk->stride.hi != 0 && sfb_stride_remember_first(&walk->stride, &walk->memo))
        sfb_live_walk_known(walk);
}

/* How far a stride may read that has so much work left: no frame takes less than a word. */
static uint64_t limit_of_work(const struct sfb_memory *stack, uint64_t sp, uint32_t work)
{
    uint64_t hi = sfb_live_walk_limit(stack, sp), room = (uint64_t)work * 8;

    return hi != 0 && hi - sp > room ? sp + room : hi;
}

void sfb_live_walk_wish(struct sfb_live_walk *walk, const struct sfb_live_walk_wishes *wishes)
{
    struct sfb_memory *memory = &walk->walker.own_memory;
    uint64_t sp = walk->stride.sp;

    if (sp - (uintptr_t)wishes->stack < wishes->stack_size)
        sfb_memory_vouched(memory, (uintptr_t)wishes->stack, wishes->stack_size);
    else if (wishes->doubt)
        sfb_memory_doubted(memory);
    walk->stride.doubt = wishes->doubt;
    walk->stride.bounded = true;
    walk->walker.work = wishes->work;
    walk->stride.hi = limit_of_work(memory, sp, wishes->work);
}

void sfb_live_walk_known(struct sfb_live_walk *walk)
{
    sfb_memo_check(&walk->memo, &walk->stride);
}

void sfb_live_walk_use_memo(struct sfb_live_walk *walk, void *storage, size_t size)
{
    sfb_memo_begin(&walk->memo, storage, size, walk->stride.hi);
    if (walk->memo.memo)
        begin_part(walk);
}

void sfb_live_walk_learn(struct sfb_live_walk *walk)
{
    uint32_t skip = UINT32_MAX;
    enum sfb_stride_end end;

    walk->memo.memo = NULL;
    while (walk->walker.own_memory.user) {
        end = sfb_stride_skip(&walk->stride, &skip);
        if (end == SFB_STRIDE_OUTERMOST || skip == 0)
            return;
        if ((end != SFB_STRIDE_LOOK || !sfb_stride_look(&walk->stride)) &&
            sfb_live_walk_step(walk) != SFB_OK)
            return;
    }
}

/* What the kernel writes for a signal, and room to spare: further away there is another stack. */
#define SIGNAL_FRAME_MAX (32u << 10)

/* A step was made, before which the walk's memory ended at hi. */
static __attribute__((noinline)) void follow_trail(struct sfb_live_walk *walk, uint64_t hi)
{
    struct sfb_walk *w = &walk->walker;

    if (w->current.source == SFB_SOURCE_SIGNAL && w->regs.sp - walk->stride.sp > SIGNAL_FRAME_MAX)
        w->own_memory.user = NULL;
    else if (w->own_memory.hi != hi)
        sfb_stack_trail_follow(&w->own_memory, hi);
}

enum sfb_status sfb_live_walk_step(struct sfb_live_walk *walk)
{
    struct sfb_walk *walker = &walk->walker;
    struct sfb_stride *s = &walk->stride;
    enum sfb_status status;
    uint64_t work = 1;

    if (!walker->begun)
        sfb_walker_begin(walker);
    /* A stride always moves sp; where there was none, the walker knows more of the frame. */
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
                : sfb_live_walk_limit(walker->memory, walker->regs.sp);
    if (s->bounded && s->hi != 0)
        s->hi = limit_of_work(walker->memory, walker->regs.sp, walker->work);
    if (walk->memo.memo) {
        sfb_memo_cut(&walk->memo);
        begin_part(walk);
    }
    return SFB_OK;
}
