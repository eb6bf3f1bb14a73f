/*
 * Walk and encode: the glue behind the front door.
 *
 *     buffer: | info | inner frames ->         | omit | terminator || <- ring of outermost frames |
 */
#include "unwind/backtrace.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "sfb/cbf.h"
#include "unwind/outer.h"

struct capture {
    struct sfb_cbf_encoder encoder;
    struct sfb_outer outer;
    struct sframe_backtrace_info info;
};

/* A newer caller's struct is fine as long as it asks for nothing that is not known here. */
static bool read_options(struct sframe_backtrace_options *out,
                         const struct sframe_backtrace_options *in)
{
    enum { SIZE_MAX_EVER = 4096 };
    const uint8_t *bytes = (const uint8_t *)in;

    memset(out, 0, sizeof *out);
    if (!in)
        return true;
    if (in->size < sizeof *in || in->size > SIZE_MAX_EVER)
        return false;
    for (size_t i = sizeof *in; i < in->size; i++)
        if (bytes[i] != 0)
            return false;
    *out = *in;
    return (in->flags & ~(uint32_t)SFRAME_BACKTRACE_NO_LIBUNWIND) == 0 &&
           (in->max_frames == 0 || in->outermost <= in->max_frames);
}

/* Begins a walk from a signal's context, or from the caller of the front door. */
static enum sfb_status begin(struct sfb_walker *walker, struct sfb_context *interrupted,
                             const struct sframe_backtrace_options *options,
                             const struct sfb_context *caller)
{
    struct sfb_walker_options how = { .size = sizeof how };

    if (options->flags & SFRAME_BACKTRACE_NO_LIBUNWIND)
        how.flags |= SFB_WALKER_NO_LIBUNWIND;
    if (!options->context)
        return sfb_walker_init(walker, caller, SFB_FRAME_RA, &how);
    sfb_context_from_ucontext(interrupted, options->context);
    return sfb_walker_init(walker, interrupted, SFB_FRAME_PC, &how);
}

static enum sfb_status put(struct capture *c, enum sfb_frame_kind kind, enum sfb_source source,
                           uint64_t address)
{
    enum sfb_status status = sfb_cbf_encoder_put(&c->encoder, kind, address);

    if (status == SFB_OK) {
        c->info.frames++;
        c->info.by_source[source]++;
    }
    return status;
}

/* @return SFB_END, or why the walk stopped */
static enum sfb_status walk(struct capture *c, struct sfb_walker *walker,
                            const struct sframe_backtrace_options *options)
{
    uint32_t inner_max = options->max_frames ? options->max_frames - options->outermost : UINT_MAX;
    bool inner_full = false;
    const struct sfb_frame *frame = &walker->current; /* not copied: see walker.c on stalls */
    enum sfb_status status;

    for (uint32_t i = 0; (status = sfb_walker_next(walker, NULL)) == SFB_OK; i++) {
        enum sfb_status stop = SFB_FRAME_LIMIT;

        if (i < options->skip)
            continue;
        if (!inner_full && c->info.frames < inner_max) {
            stop = put(c, frame->kind, frame->source, frame->address);
            if (stop == SFB_OK)
                continue;
        }
        if (c->outer.capacity == 0)
            return stop;
        inner_full = true;
        sfb_outer_push(&c->outer, frame);
    }
    return status;
}

static void put_outermost(struct capture *c, size_t size)
{
    size_t kept = sfb_outer_kept(&c->outer);
    uint64_t omitted = c->outer.seen - kept;

    sfb_cbf_encoder_extend(&c->encoder, size);
    sfb_outer_linearise(&c->outer);
    if (omitted > 0 && sfb_cbf_encoder_put(&c->encoder, SFB_FRAME_OMIT, omitted) == SFB_OK)
        c->info.omitted = omitted < UINT_MAX ? (uint32_t)omitted : UINT_MAX;
    for (size_t i = 0; i < kept; i++) {
        struct sfb_outer_frame frame = sfb_outer_get(&c->outer, i);

        put(c, frame.kind, frame.source, frame.address);
    }
}

static void give_info(struct sframe_backtrace_info *out, const struct sframe_backtrace_info *info)
{
    size_t size = out->size;

    *out = *info;
    out->size = size;
}

ssize_t sfb_backtrace_cbf_from(void *buffer, size_t size,
                               const struct sframe_backtrace_options *options,
                               struct sframe_backtrace_info *info, const struct sfb_context *caller)
{
    struct sframe_backtrace_options how;
    struct sfb_context interrupted;
    struct sfb_walker walker;
    struct capture c;
    enum sfb_status status;
    size_t inner_size;

    if (!buffer || !read_options(&how, options) || (info && info->size < sizeof *info))
        return -SFB_BAD_ARGUMENT;
    if (size < SFB_CBF_SIZE_MIN)
        return -SFB_BUFFER_TOO_SMALL;
    if (size > SSIZE_MAX)
        size = SSIZE_MAX;

    memset(&c.info, 0, sizeof c.info);
    inner_size = sfb_outer_init(&c.outer, buffer, size, how.outermost);
    status = sfb_cbf_encoder_init(&c.encoder, buffer, inner_size, 64);
    if (status != SFB_OK)
        return -(ssize_t)status;
    status = begin(&walker, &interrupted, &how, caller);
    if (status != SFB_OK)
        return -(ssize_t)status;

    c.info.end = walk(&c, &walker, &how);
    if (c.outer.capacity > 0)
        put_outermost(&c, size);
    if (info)
        give_info(info, &c.info);
    return (ssize_t)sfb_cbf_encoder_end(&c.encoder, c.info.end != SFB_END);
}

int sfb_backtrace_from(void **buffer, int size, const struct sfb_context *caller)
{
    struct sfb_walker walker;
    int n = 0;

    if (!buffer || size <= 0 || sfb_walker_init(&walker, caller, SFB_FRAME_RA, NULL) != SFB_OK)
        return 0;
    while (n < size && sfb_walker_next(&walker, NULL) == SFB_OK)
        buffer[n++] = (void *)(uintptr_t)walker.regs.pc; /* NOLINT(performance-no-int-to-ptr) */
    return n;
}
