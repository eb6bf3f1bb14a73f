#include "unwind/capture/resume.h"

#include <string.h>

#include "unwind/machine/arch.h"
#include "unwind/process/known_stack.h"
#include "unwind/walk/position.h"
#include "unwind/walk/replay.h"
#include "unwind/walk/walker.h"

enum phase { FRESH, STOPPED, ENDED };

/* Where a step from the frame led. */
struct caller {
    uint64_t pc, sp; /* 0 unless the status is SFB_OK */
    uint64_t status; /* enum sfb_status */
};

struct state {
    uint64_t phase; /* enum phase; all else is valid in STOPPED only, but for end */
    uint64_t end;   /* ENDED: enum sfb_status */
    struct sfb_regs regs;
    struct sfb_context context; /* all registers known there; all zero: lost on the way */
    struct caller caller;
    uint8_t kind, source;
    uint8_t signals;
    bool unproven, sp_lost, followed;
};

_Static_assert(sizeof(struct state) <= sizeof(struct sframe_backtrace_resume), "it has room");

/* The public struct is words that may alias anything. */
static struct state *state_in(struct sframe_backtrace_resume *resume)
{
    return (struct state *)resume;
}

static const struct state *state_of(const struct sframe_backtrace_resume *resume)
{
    return (const struct state *)resume;
}

/* A step of the walker alone. It may change the anchor. */
static struct caller find_caller(struct sfb_walk *w)
{
    enum sfb_status status;

    w->work = SFB_WALKER_WORK;
    status = sfb_walker_step(w);
    if (status != SFB_OK)
        return (struct caller){ .status = (uint64_t)status };
    return (struct caller){ .pc = w->regs.pc, .sp = w->regs.sp };
}

void sfb_resume_begin(struct sfb_capture_walk *out, const struct sframe_backtrace_resume *resume,
                      struct sfb_context *start, uint32_t flags)
{
    const struct state *state = state_of(resume);
    struct sfb_walk *w = &out->walker;

    sfb_arch_context(start, &state->regs);
    sfb_capture_walk_begin(out, start, SFB_FRAME_PC,
                           flags); /* of a return address it would trust sp */
    w->anchor_kind = state->kind;
    sfb_capture_walk_begin_walker(w);
    *start = state->context;
    w->regs = state->regs;
    w->current.kind = state->kind;
    w->current.source = state->source;
    w->signals = state->signals;
    w->unproven = state->unproven;
    w->sp_lost = state->sp_lost;
    w->followed = state->followed;
    out->fast.key = state->regs.pc + (state->kind == SFB_FRAME_PC);
    if (state->sp_lost)
        out->fast.hi = 0;
}

/* Tells whether the frame lies further in than the caller of the front door, on the same stack. */
static bool has_returned(const struct state *state, const struct sfb_context *here)
{
    const uint64_t sp = here->reg[SFB_ARCH_SP];
    uint64_t lo, hi;

    return sfb_known_stack_range(sp, &lo, &hi) && state->regs.sp >= lo && state->regs.sp < sp;
}

static bool is_unchanged(const struct sframe_backtrace_options *options, const struct state *state)
{
    struct sfb_capture_walk walk;
    struct sfb_context start;
    struct caller now;

    sfb_resume_begin(&walk, options->resume, &start, options->flags);
    if (options->read)
        sfb_capture_walk_read_by(&walk, options);
    now = find_caller(&walk.walker);
    return memcmp(&now, &state->caller, sizeof now) == 0;
}

enum sfb_status sfb_resume_check(const struct sframe_backtrace_options *options,
                                 const struct sfb_context *here)
{
    const struct state *state = state_of(options->resume);

    if (state->phase > ENDED || options->outermost > 0)
        return SFB_BAD_ARGUMENT;
    if (state->phase == ENDED)
        return SFB_END;
    if (state->phase == FRESH)
        return SFB_OK;
    /* A caller's memory is of another stack, or of an earlier moment. */
    return (!options->read && has_returned(state, here)) || !is_unchanged(options, state)
               ? SFB_STACK_CHANGED
               : SFB_OK;
}

enum sfb_status sfb_resume_end(const struct sframe_backtrace_resume *resume)
{
    return (enum sfb_status)state_of(resume)->end;
}

bool sfb_resume_has_frame(const struct sframe_backtrace_resume *resume)
{
    return state_of(resume)->phase == STOPPED;
}

enum sfb_source sfb_resume_source(const struct sframe_backtrace_resume *resume)
{
    return (enum sfb_source)state_of(resume)->source;
}

/* Puts the walker where the fast walk is. */
static void catch_up(struct sfb_capture_walk *walk, enum sfb_source source)
{
    struct sfb_walk *w = &walk->walker;

    if (!w->begun)
        sfb_capture_walk_begin_walker(w);
    if (walk->fast.sp != w->regs.sp)
        sfb_walker_resume(w, walk->fast.pc, walk->fast.sp, walk->fast.fp);
    w->current.kind = walk->fast.key != walk->fast.pc ? SFB_FRAME_PC : SFB_FRAME_RA;
    w->current.source = source;
}

enum sfb_status sfb_resume_stop(struct sframe_backtrace_resume *resume,
                                struct sfb_capture_walk *walk, enum sfb_source source,
                                enum sfb_status status)
{
    struct state *out = state_in(resume);
    struct sfb_walk *w = &walk->walker;

    memset(out, 0, sizeof *out);
    out->phase = ENDED;
    out->end = (uint64_t)status;
    if (status != SFB_FRAME_LIMIT && status != SFB_BUFFER_FULL)
        return status;
    catch_up(walk, source);
    w->work = SFB_WALKER_WORK;
    if (sfb_walker_is_at_anchor(w) || sfb_replay(w))
        out->context = *w->anchor;
    out->regs = w->regs;
    out->kind = (uint8_t)w->current.kind;
    out->source = (uint8_t)source;
    out->signals = w->signals;
    out->unproven = w->unproven;
    out->sp_lost = w->sp_lost;
    out->followed = w->followed;
    out->caller = find_caller(w);
    if (w->spurious) {
        w->spurious = false; /* the last frame that this call gave is real */
        out->end = out->caller.status;
        return (enum sfb_status)out->end;
    }
    out->phase = STOPPED;
    return status;
}
