#include "unwind/capture/marks.h"

#include "unwind/capture/capture_walk.h"

/* Goes on by one frame. @return SFB_OK; else the walk ends */
static enum sfb_status step(struct sfb_capture_walk *walk)
{
    for (;;) {
        void *nothing = NULL, **at = &nothing; /* no room: the frame reached is not given */

        switch (sfb_fast_walk_addresses(&walk->fast, &at, at, NULL)) {
        case SFB_FAST_WALK_SINK_FULL: return SFB_OK;
        case SFB_FAST_WALK_OUTERMOST: return SFB_END;
        case SFB_FAST_WALK_CHECK_MODULE:
            if (sfb_fast_walk_check_module(&walk->fast))
                break;
            /* fall through */
        case SFB_FAST_WALK_NEEDS_WALKER: return sfb_capture_walk_step(walk);
        case SFB_FAST_WALK_MEMO_HIT:
        case SFB_FAST_WALK_MEMO_DIVERGED: break; /* there is no memo */
        }
    }
}

/* @param start  overwritten */
static void place(struct sfb_context *start, enum sfb_frame_kind kind, uint32_t flags,
                  struct sfb_mark *marks, size_t count, uint32_t most)
{
    struct sfb_capture_walk walk;
    size_t next = 0;

    for (size_t i = 0; i < count; i++)
        marks[i].frame = SFB_MARK_UNPLACED;
    sfb_capture_walk_begin(&walk, start, kind, flags);
    for (uint32_t frame = 0; frame < most && next < count; frame++) {
        const uint64_t sp = walk.fast.sp;

        if (step(&walk) != SFB_OK)
            break;
        /* Stacks grow downwards: the frame is [sp, sp of its caller). */
        while (next < count && marks[next].at < sp)
            next++;
        while (next < count && marks[next].at < walk.fast.sp)
            marks[next++].frame = frame;
    }
    sfb_capture_walk_end(&walk, false, SFB_FRAME_LIMIT, NULL);
}

void sfb_marks_place(const void *context, uint32_t flags, struct sfb_mark *marks, size_t count,
                     uint32_t most)
{
    struct sfb_context start;

    sfb_context_from_ucontext(&start, context);
    place(&start, SFB_FRAME_PC, flags, marks, count, most);
}

void sfb_marks_place_from(const struct sfb_regs *caller, struct sfb_mark *marks, size_t count,
                          uint32_t most)
{
    struct sfb_context start;

    sfb_arch_context(&start, caller);
    place(&start, SFB_FRAME_RA, SFRAME_BACKTRACE_NO_LIBUNWIND, marks, count, most);
}
