/* The front door of walks over copied stacks: <sfb/copied.h>. */
#include <string.h>

#include "remote/copied_space.h"
#include "sfb/cbf.h"
#include "unwind/machine/arch.h"
#include "unwind/walk/walker.h"

/* No stack is longer: a word further out than this is not of it. */
enum { STACK_MAX = 1 << 30 };

struct words {
    struct sfb_memory memory;
    struct sfb_copied_space *space;
    const struct sfb_copied_stack *stack;
    bool cut; /* a word was wanted that the copy ends before */
};

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct words *w = memory->user;
    const struct sfb_copied_stack *s = w->stack;
    const uint64_t at = address - s->address;

    if (s->size >= sizeof *out && at <= s->size - sizeof *out) {
        memcpy(out, (const uint8_t *)s->bytes + at, sizeof *out);
        return true;
    }
    if (copied_space_code(w->space, address, out))
        return true;
    w->cut |= !s->whole && at >= s->size - s->size % sizeof *out && at < STACK_MAX;
    return false;
}

static bool put_before(struct sfb_cbf_encoder *cbf, const struct sfb_copied_stack *stack,
                       uint32_t *frames)
{
    for (size_t i = 0; i < stack->before_count; i++) {
        const enum sfb_frame_kind kind = i == 0 ? SFB_FRAME_PC : SFB_FRAME_RA;

        if (sfb_cbf_encoder_put(cbf, kind, stack->before[i]) != SFB_OK)
            return false;
        if (*frames < stack->frame_sp_room)
            stack->frame_sp[*frames] = 0;
        ++*frames;
    }
    return true;
}

/* @return how the walk ended */
static enum sfb_status put_frames(struct sfb_cbf_encoder *cbf, struct sfb_walker *walker,
                                  const struct sfb_copied_stack *stack, uint32_t *frames)
{
    const struct sfb_cbf_encoder empty = *cbf;
    struct sfb_cbf_encoder before = *cbf;
    struct sfb_frame frame;
    enum sfb_status status;
    const uint32_t first = *frames;

    while ((status = sfb_walker_next(walker, &frame)) == SFB_OK) {
        before = *cbf;
        if (sfb_cbf_encoder_put(cbf, frame.kind, frame.address) != SFB_OK)
            return SFB_BUFFER_FULL;
        if (*frames < stack->frame_sp_room)
            stack->frame_sp[*frames] = frame.sp;
        ++*frames;
    }
    if (status >= SFB_NO_MODULE && *frames > first && sfb_walker_is_spurious(walker)) {
        *cbf = *frames == first + 1 ? empty : before;
        --*frames;
    }
    return status;
}

enum sfb_status sfb_copied_walk(struct sfb_copied_space *space,
                                const struct sfb_copied_stack *stack,
                                struct sfb_copied_backtrace *out, void *cbf, size_t size)
{
    const uint64_t needed = (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP;
    struct words words = { .space = space, .stack = stack };
    struct sfb_context start = stack->registers;
    struct sfb_cbf_encoder encoder;
    struct sfb_walker walker;
    struct sfb_walk *walk = (struct sfb_walk *)&walker;
    const bool has_registers = (start.valid & needed) == needed;
    enum sfb_status status;

    if (!has_registers && stack->before_count == 0)
        return SFB_BAD_ARGUMENT;
    status = sfb_cbf_encoder_init(&encoder, cbf, size, 64);
    if (status != SFB_OK)
        return status;
    *out = (struct sfb_copied_backtrace){ .end = SFB_BUFFER_FULL };
    copied_files_renew(space->files);
    words.memory = (struct sfb_memory){ .read = read_word, .user = &words };
    sfb_walker_start(walk, &start, SFB_FRAME_PC, SFB_WALKER_NO_LIBUNWIND, &space->policy,
                     &words.memory);
    walk->work = SFB_WALKER_WORK;
    if (put_before(&encoder, stack, &out->frames))
        out->end = has_registers ? put_frames(&encoder, &walker, stack, &out->frames) : SFB_END;
    if (words.cut && out->end != SFB_END && out->end != SFB_UNPROVEN_END &&
        out->end != SFB_BUFFER_FULL)
        out->end = SFB_STACK_CUT;
    out->size = sfb_cbf_encoder_end(&encoder, out->end != SFB_END && out->end != SFB_UNPROVEN_END);
    return SFB_OK;
}
