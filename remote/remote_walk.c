#include "remote/remote_walk.h"

#include <stdlib.h>

#include "unwind/walk/walker.h"
#include "util/grow.h"

/* @return false: no memory */
static bool add(struct remote_walk *out, const struct sfb_frame *frame)
{
    if (!array_make_room(&out->frames, out->count, &out->room, sizeof *out->frames))
        return false;
    out->frames[out->count++] = (struct sfb_remote_frame){ .address = frame->address,
                                                           .kind = (uint8_t)frame->kind,
                                                           .source = (uint8_t)frame->source,
                                                           .sp = frame->sp };
    return true;
}

/* Tells whether the step to the frame was a guess that fp had a part in, while fp is not known. */
static bool is_guess(const struct sfb_frame *frame, uint64_t fp)
{
    return fp == REMOTE_NO_FP && frame->source >= SFB_SOURCE_FRAME_POINTER;
}

static enum sfb_status take_frames(struct remote_walk *out, struct sfb_walker *walker,
                                   size_t max_frames, bool *guessed)
{
    uint64_t fp = sfb_walker_regs(walker)->fp;
    struct sfb_frame frame;
    enum sfb_status status;

    while ((status = sfb_walker_next(walker, &frame)) == SFB_OK) {
        *guessed = is_guess(&frame, fp);
        if (*guessed)
            return SFB_NO_REGISTER;
        if (out->count == max_frames)
            return SFB_FRAME_LIMIT;
        if (!add(out, &frame))
            return SFB_NO_RESOURCE;
        fp = sfb_walker_regs(walker)->fp;
    }
    return status;
}

/* Tells why a walk ended that did not reach the outermost frame. */
static enum remote_walk_end judge(const struct remote_walk *out, const struct remote_look *look,
                                  const struct sfb_walker *walker, const struct remote_words *words,
                                  bool guessed)
{
    if (out->end == SFB_NO_RESOURCE)
        return REMOTE_WALK_NO_MEMORY;
    if (out->end == SFB_END || out->end == SFB_FRAME_LIMIT)
        return REMOTE_WALK_DONE;
    if (words->cut != 0)
        return REMOTE_WALK_NEEDS_STACK;
    if (!look->stopped &&
        (guessed || out->end == SFB_NO_REGISTER || sfb_walker_regs(walker)->fp == REMOTE_NO_FP))
        return REMOTE_WALK_NEEDS_REGISTERS;
    return REMOTE_WALK_DONE;
}

enum remote_walk_end remote_walk(struct remote_walk *out, const struct remote_look *look,
                                 struct remote_memory *memory, const struct sfb_modules *modules,
                                 size_t max_frames)
{
    struct sfb_context start = look->registers;
    struct sfb_walker walker;
    struct sfb_walk *walk = (struct sfb_walk *)&walker;
    struct remote_words words;
    enum remote_walk_end end;
    bool guessed = false;

    out->count = 0;
    remote_words_begin(&words, memory, look->stack, look->stopped);
    sfb_walker_start(walk, &start, SFB_FRAME_PC, SFB_WALKER_NO_LIBUNWIND, modules, &words.memory);
    walk->work = SFB_WALKER_WORK;
    out->end = take_frames(out, &walker, max_frames, &guessed);
    if (out->end >= SFB_NO_MODULE && out->count > 0 && sfb_walker_is_spurious(&walker))
        out->count--;
    out->more = words.more;
    out->cut = words.cut;
    end = judge(out, look, &walker, &words, guessed);
    /* By what stands in the place of fp. */
    if (end == REMOTE_WALK_NEEDS_REGISTERS && out->end == SFB_MISALIGNED)
        out->end = SFB_NO_REGISTER;
    return end;
}
