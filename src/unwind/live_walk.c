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

enum sfb_status sfb_live_walk_step(struct sfb_live_walk *walk)
{
    struct sfb_walker *walker = &walk->walker;
    struct sfb_stride *s = &walk->stride;
    enum sfb_status status;

    if (!walker->begun)
        sfb_walker_begin(walker);
    /* A stride always moves sp; where there was none, the walker knows more of the frame. */
    if (s->sp != walker->regs.sp)
        sfb_walker_resume(walker, s->pc, s->sp, s->fp);
    status = sfb_walker_step(walker);
    if (status != SFB_OK)
        return status;
    s->pc = walker->regs.pc;
    s->sp = walker->regs.sp;
    s->fp = walker->regs.fp;
    s->key = s->pc + (walker->current.kind == SFB_FRAME_PC);
    s->hi = walker->sp_lost || walker->flags & SFB_WALKER_NO_CACHE
                ? 0
                : sfb_live_walk_limit(walker->memory, walker->regs.sp);
    if (walk->memo.memo) {
        sfb_memo_cut(&walk->memo);
        begin_part(walk);
    }
    return SFB_OK;
}
