#include "remote/core_walk.h"

#include "remote/core_registers.h"
#include "unwind/walk/walker.h"
#include "util/grow.h"

static enum sfb_status take_frames(struct sfb_remote_thread *out, struct sfb_walker *walker,
                                   size_t max_frames)
{
    struct sfb_frame frame;
    enum sfb_status status;
    size_t room = 0;

    while ((status = sfb_walker_next(walker, &frame)) == SFB_OK) {
        if (out->frame_count == max_frames)
            return SFB_FRAME_LIMIT;
        if (!array_make_room(&out->frames, out->frame_count, &room, sizeof *out->frames))
            return SFB_NO_RESOURCE;
        out->frames[out->frame_count++] =
            (struct sfb_remote_frame){ .address = frame.address,
                                       .kind = (uint8_t)frame.kind,
                                       .source = (uint8_t)frame.source,
                                       .sp = frame.sp };
    }
    return status;
}

void remote_core_walk(struct sfb_remote_thread *out, const struct remote_core_start *start)
{
    struct sfb_context context;
    struct sfb_walker walker;
    struct sfb_walk *walk = (struct sfb_walk *)&walker;

    remote_core_registers(&context, start->words);
    out->in_call = remote_core_call(out, start->words);
    sfb_walker_start(walk, &context, SFB_FRAME_PC, SFB_WALKER_NO_LIBUNWIND, start->modules,
                     start->memory);
    walk->work = SFB_WALKER_WORK;
    out->end = take_frames(out, &walker, start->max_frames);
    if (out->end >= SFB_NO_MODULE && out->frame_count > 0 && sfb_walker_is_spurious(&walker))
        out->frame_count--;
}
