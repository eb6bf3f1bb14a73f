/*
 * Walk and encode: the glue behind the front door.
 *
 *     buffer: | info | inner frames ->         | omit | terminator || <- ring of outermost frames |
 */
#include "unwind/capture/backtrace.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/sized.h"
#include "cbf/drop.h"
#include "cbf/put.h"
#include "sfb/cbf.h"
#include "unwind/capture/async_walk.h"
#include "unwind/capture/capture_walk.h"
#include "unwind/capture/resume.h"
#include "unwind/capture/spurious.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/process/loader.h"

struct capture {
    struct sfb_cbf_encoder encoder;
    struct sfb_tail_ring outer;
    struct sframe_backtrace_info *info; /* the caller's; NULL: not wanted */
    uint32_t frames;
    uint32_t skip;      /* frames still to be left out */
    uint32_t inner_max; /* frames for the inner end */
    bool inner_full;
    bool complete;        /* the fast walk has come to the outermost frame */
    uint8_t kind, source; /* of the frame that the walk stands on */
};

static const struct sframe_backtrace_options defaults = { .size = sizeof defaults };

/*
 * Tells whether the structs have the sizes of this version's header. Then they are used in place: a
 * copy costs stack and time. (info NULL, options NULL: not given.)
 */
static inline bool are_ours(const struct sframe_backtrace_options *options,
                            const struct sframe_backtrace_info *info)
{
    return (!options || options->size == sizeof *options) && (!info || info->size == sizeof *info);
}

/* Copies of structs from another version's header, in this version's layout. */
struct translation {
    struct sframe_backtrace_options options;
    struct sframe_backtrace_info info;
};

static enum sfb_status translate(struct translation *out,
                                 const struct sframe_backtrace_options *options,
                                 const struct sframe_backtrace_info *info)
{
    enum sfb_status status = info ? sfb_sized_check(info) : SFB_OK;

    out->options = defaults;
    out->info.size = sizeof out->info;
    return status == SFB_OK && options ? sfb_sized_read(&out->options, sizeof out->options, options)
                                       : status;
}

/* Not SFRAME_BACKTRACE_ASYNC: such calls leave the common way where one with an unknown flag does, and so it costs
   the others nothing. */
static inline bool are_known(uint32_t flags)
{
    return !(flags & ~(uint32_t)(SFRAME_BACKTRACE_NO_LIBUNWIND | SFRAME_BACKTRACE_DOUBT));
}

/*
 * Out of line: in capture_cbf() it would cost the walk stack.
 *
 * @return SFB_OK; SFB_BAD_ARGUMENT; else of sfb_resume_check()
 */
static __attribute__((noinline)) enum sfb_status check_for_cbf(
    const struct sframe_backtrace_options *options, const struct sfb_context *caller)
{
    if (!are_known(options->flags) || options->hash ||
        (options->max_frames != 0 && options->outermost > options->max_frames))
        return SFB_BAD_ARGUMENT;
    return options->resume ? sfb_resume_check(options, caller) : SFB_OK;
}

/* @return the memo; NULL: not given, or not to be used */
static void *memo_of(const struct sframe_backtrace_options *options)
{
    return options->memo && !(options->flags & SFRAME_BACKTRACE_DOUBT) ? options->memo : NULL;
}

static inline bool is_bounded(const struct sframe_backtrace_options *options)
{
    return options->stack || options->max_work || (options->flags & SFRAME_BACKTRACE_DOUBT);
}

/* In one branch. */
static inline bool has_wishes(const struct sframe_backtrace_options *options)
{
    return ((uintptr_t)options->stack | (uintptr_t)options->resume | (uintptr_t)options->read |
            options->max_work | (options->flags & SFRAME_BACKTRACE_DOUBT)) != 0;
}

/* @return whether the walk begins where another call stopped */
static inline bool goes_on(const struct sframe_backtrace_options *options)
{
    return options->resume && sfb_resume_has_frame(options->resume);
}

static __attribute__((noinline)) void wish(struct sfb_capture_walk *walk,
                                           const struct sframe_backtrace_options *options,
                                           struct sfb_context *caller)
{
    if (goes_on(options))
        sfb_resume_begin(walk, options->resume, caller, options->flags);
    if (is_bounded(options))
        sfb_capture_walk_set_options(
            walk, &(struct sfb_capture_walk_options){
                      .stack = options->stack,
                      .stack_size = options->stack ? options->stack_size : 0,
                      .work = options->max_work ? options->max_work : SFB_WALKER_WORK,
                      .doubt = options->flags & SFRAME_BACKTRACE_DOUBT });
    if (options->read)
        sfb_capture_walk_read_by(walk, options);
}

_Static_assert((int)SFRAME_BACKTRACE_NO_LIBUNWIND == (int)SFB_WALKER_NO_LIBUNWIND &&
                   (int)SFRAME_BACKTRACE_DOUBT == (int)SFB_WALKER_DOUBT,
               "flags are handed on");

/* Begins a walk from a signal's context, or from the caller of the front door. */
static inline __attribute__((always_inline)) void begin_plain_walk(
    struct sfb_capture_walk *walk, const struct sframe_backtrace_options *options,
    struct sfb_context *caller)
{
    if (options->context) {
        sfb_context_from_ucontext(caller, options->context); /* overwrites it: only one is needed */
        sfb_capture_walk_begin(walk, caller, SFB_FRAME_PC, options->flags);
    } else {
        sfb_capture_walk_begin(walk, caller, SFB_FRAME_RA, options->flags);
    }
}

static inline __attribute__((always_inline)) void begin_walk(
    struct sfb_capture_walk *walk, const struct sframe_backtrace_options *options,
    struct sfb_context *caller)
{
    begin_plain_walk(walk, options, caller);
    if (__builtin_expect(has_wishes(options), 0))
        wish(walk, options, caller);
}

/* Out of line: in capture_cbf() it would cost the walk stack. */
static __attribute__((noinline)) void begin_walk_for_cbf(
    struct capture *c, struct sfb_capture_walk *walk,
    const struct sframe_backtrace_options *options, struct sfb_context *caller)
{
    begin_walk(walk, options, caller);
    if (__builtin_expect(options->resume != NULL, 0) && goes_on(options)) {
        c->skip = 0;
        c->source = (uint8_t)sfb_resume_source(options->resume);
    }
}

static void count_sources(struct sframe_backtrace_info *info,
                          const struct sfb_fast_walk_count *count)
{
    info->by_source[SFB_SOURCE_SFRAME] += count->frames - count->by_eh_frame;
    info->by_source[SFB_SOURCE_EH_FRAME] += count->by_eh_frame;
}

/* Sets info.memo_used. Called before the walk ends, which releases the memo. */
static void tell_memo(struct sframe_backtrace_info *info, const struct sfb_capture_walk *walk)
{
    info->memo_used = walk->memo.memo != NULL;
}

static enum sfb_status put(struct capture *c, enum sfb_frame_kind kind, enum sfb_source source,
                           uint64_t address)
{
    enum sfb_status status = SFB_OK;

    if (!c->encoder.first || !cbf_encoder_put_first(&c->encoder, kind, address))
        status = sfb_cbf_encoder_put(&c->encoder, kind, address);
    if (status == SFB_OK) {
        c->frames++;
        if (c->info)
            c->info->by_source[source]++;
    }
    return status;
}

/*
 * Writes one frame of any kind: skipped, to the inner end, or to the ring.
 *
 * @return SFB_OK, or why the walk ends here
 */
static enum sfb_status take(struct capture *c, uint64_t address)
{
    enum sfb_frame_kind kind = c->kind;
    enum sfb_source source = c->source;
    enum sfb_status stop = SFB_FRAME_LIMIT;

    if (c->skip > 0) {
        c->skip--;
        return SFB_OK;
    }
    if (!c->inner_full && c->frames < c->inner_max) {
        stop = put(c, kind, source, address);
        if (stop == SFB_OK)
            return SFB_OK;
    }
    if (c->outer.capacity == 0)
        return stop;
    c->inner_full = true;
    sfb_tail_ring_push(&c->outer, kind, source, address);
    return SFB_OK;
}

/* Takes as many frames as the fast walk gives. */
static enum sfb_fast_walk_end fast_frames(struct capture *c, struct sfb_capture_walk *walk)
{
    struct sfb_memo_walk *memo = sfb_capture_walk_memo(walk);
    struct sfb_fast_walk_count count = { 0, 0 };
    uint32_t left = c->inner_max - c->frames;
    enum sfb_fast_walk_end end;

    if (c->skip > 0)
        return sfb_fast_walk_skip(&walk->fast, &c->skip);
    if (c->inner_full)
        return sfb_fast_walk_tail(&walk->fast, &c->outer);
    if (memo && memo->matched > 0)
        end = sfb_fast_walk_memo_cbf(&walk->fast, &c->encoder, left, &count, memo);
    else
        end = sfb_fast_walk_cbf(&walk->fast, &c->encoder, left, &count, c->info != NULL, memo);
    c->frames += count.frames;
    if (c->info)
        count_sources(c->info, &count);
    return end;
}

/* Goes on to the next frame that the fast walk could not write itself. */
static enum sfb_status next_uncommon(struct capture *c, struct sfb_capture_walk *walk)
{
    enum sfb_status status;

    for (;;) {
        switch (fast_frames(c, walk)) {
        case SFB_FAST_WALK_OUTERMOST:
            c->complete = !c->inner_full;
            return sfb_capture_walk_outermost(walk);
        case SFB_FAST_WALK_MEMO_DIVERGED: break;
        case SFB_FAST_WALK_MEMO_HIT:
            sfb_capture_walk_memo_hit(walk, c->inner_max - c->frames);
            break;
        case SFB_FAST_WALK_SINK_FULL:
            c->kind = SFB_FRAME_RA;
            c->source = (uint8_t)sfb_fast_walk_source(&walk->fast);
            /* Even if it does not fit: the next walk then ends here, not further out. */
            sfb_capture_walk_sink_full(walk);
            return SFB_OK;
        case SFB_FAST_WALK_CHECK_MODULE:
            if (sfb_fast_walk_check_module(&walk->fast))
                break;
            /* fall through */
        case SFB_FAST_WALK_NEEDS_WALKER:
            status = sfb_capture_walk_step(walk);
            c->kind = (uint8_t)walk->walker.current.kind;
            c->source = (uint8_t)walk->walker.current.source;
            return status;
        }
    }
}

/* @return SFB_END, SFB_UNPROVEN_END, or why the walk stopped */
static enum sfb_status walk_all(struct capture *c, struct sfb_capture_walk *walk,
                                const struct sframe_backtrace_options *options)
{
    bool wait_for_memo = memo_of(options) != NULL;
    enum sfb_status status;

    do {
        bool wanted = c->skip == 0;

        status = take(c, walk->fast.pc);
        if (status != SFB_OK)
            break;
        if (wait_for_memo && wanted) {
            sfb_capture_walk_use_memo(walk, options->memo, options->memo_size, false,
                                      c->inner_max - c->frames);
            wait_for_memo = false;
        }
        status = next_uncommon(c, walk);
    } while (status == SFB_OK);
    if (c->info)
        tell_memo(c->info, walk);
    if (__builtin_expect(options->resume != NULL, 0))
        status = sfb_resume_stop(options->resume, walk, c->source, status);
    sfb_capture_walk_end(walk, c->complete, status, NULL);
    return status;
}

/* @param spurious  the last frame in the ring is not real: leave it out */
static void put_outermost(struct capture *c, size_t size, bool spurious)
{
    size_t kept = sfb_tail_ring_kept(&c->outer);
    uint64_t omitted = c->outer.seen - kept;

    sfb_cbf_encoder_extend(&c->encoder, size);
    sfb_tail_ring_linearise(&c->outer);
    if (omitted > 0 && sfb_cbf_encoder_put(&c->encoder, SFB_FRAME_OMIT, omitted) == SFB_OK &&
        c->info)
        c->info->omitted = omitted < UINT_MAX ? (uint32_t)omitted : UINT_MAX;
    for (size_t i = 0; i < kept - spurious; i++) {
        struct sfb_tail_frame frame = sfb_tail_ring_get(&c->outer, i);

        put(c, frame.kind, frame.source, frame.address);
    }
}

/* Removes the last frame, which is not real. (Not inlined: it needs stack, and is rare.) */
static __attribute__((noinline)) void drop_spurious(struct capture *c,
                                                    const struct sfb_capture_walk *walk)
{
    uint64_t callee = 0;

    if (c->frames == 0)
        return; /* it was left out */
    if (sfb_cbf_encoder_drop(&c->encoder, &callee) && callee > 0)
        callee--;
    c->frames--;
    if (c->info)
        sfb_spurious_discount(c->info, walk, callee);
}

static inline __attribute__((always_inline)) void clear_info(struct sframe_backtrace_info *info)
{
    *info = (struct sframe_backtrace_info){ .size = info->size };
}

/* Writes a backtrace without frames: options.resume has given them all. */
static ssize_t give_no_cbf(void *buffer, size_t size, const struct sframe_backtrace_options *how,
                           struct sframe_backtrace_info *info)
{
    enum sfb_status status = sfb_resume_end(how->resume);
    struct sfb_cbf_encoder encoder;

    cbf_encoder_begin(&encoder, buffer, size);
    if (info) {
        clear_info(info);
        info->end = status;
    }
    return (ssize_t)sfb_cbf_encoder_end(&encoder, status != SFB_END);
}

static inline __attribute__((always_inline)) void begin_capture(
    struct capture *c, void *buffer, size_t size, const struct sframe_backtrace_options *how,
    struct sframe_backtrace_info *info)
{
    size_t inner_size = size;

    c->info = info;
    c->frames = 0;
    c->skip = how->skip;
    c->inner_max = how->max_frames ? how->max_frames - how->outermost : UINT_MAX;
    c->inner_full = false;
    c->complete = false;
    c->outer.capacity = 0;
    if (how->outermost > 0)
        inner_size = sfb_tail_ring_init(&c->outer, buffer, size, how->outermost);
    cbf_encoder_begin(&c->encoder, buffer, inner_size);
    if (info)
        clear_info(info);
    c->source = SFB_SOURCE_START;
}

/* @return bytes of the backtrace */
static inline __attribute__((always_inline)) ssize_t end_capture(
    struct capture *c, const struct sfb_capture_walk *walk, size_t size, enum sfb_status status)
{
    const bool spurious = sfb_capture_walk_is_spurious(walk);

    if (__builtin_expect(spurious && !c->inner_full, false))
        drop_spurious(c, walk);
    if (c->outer.capacity > 0)
        put_outermost(c, size, spurious && c->inner_full);
    if (c->info) {
        c->info->frames = c->frames;
        c->info->end = status;
    }
    return (ssize_t)sfb_cbf_encoder_end(&c->encoder, status != SFB_END);
}

/* A state of `resume` has no room for a coroutine. A walk does not begin in two places. */
static inline bool is_async_possible(const struct sframe_backtrace_options *how)
{
    const uint32_t flags = SFRAME_BACKTRACE_ASYNC | SFRAME_BACKTRACE_SUSPENDED;

    return are_known(how->flags & ~flags) && !how->resume &&
           (!(how->flags & SFRAME_BACKTRACE_SUSPENDED) || (how->coroutine && !how->context));
}

/* Apart, so that only these calls have the larger walk on the stack. The buffer and the thread were checked. */
static __attribute__((noinline)) ssize_t capture_async_cbf(
    void *buffer, size_t size, const struct sframe_backtrace_options *how,
    struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    struct sfb_async_walk walk;
    struct capture c;
    enum sfb_status status;

    if (!is_async_possible(how) || how->hash ||
        (how->max_frames != 0 && how->outermost > how->max_frames))
        return -SFB_BAD_ARGUMENT;
    if (size < SFB_CBF_SIZE_MIN)
        return -SFB_BUFFER_TOO_SMALL;
    if (size > SSIZE_MAX)
        size = SSIZE_MAX;
    begin_capture(&c, buffer, size, how, info);
    begin_walk_for_cbf(&c, &walk.stack, how, caller);
    status = sfb_async_begin(&walk, how);
    while (status == SFB_OK) {
        c.kind = walk.kind;
        c.source = walk.source;
        status = take(&c, walk.address);
        if (status == SFB_OK)
            status = sfb_async_step(&walk);
    }
    sfb_capture_walk_end(&walk.stack, false, status, NULL);
    return end_capture(&c, &walk.stack, size, status);
}

static __attribute__((noinline)) ssize_t capture_cbf(void *buffer, size_t size,
                                                     const struct sframe_backtrace_options *how,
                                                     struct sframe_backtrace_info *info,
                                                     struct sfb_context *caller)
{
    struct sfb_capture_walk walk;
    struct capture c;
    enum sfb_status status;

    if (!buffer)
        return -SFB_BAD_ARGUMENT;
    if (!sfb_may_capture())
        return -SFB_NO_RESOURCE;
    status = how != &defaults ? check_for_cbf(how, caller) : SFB_OK;
    if (status > SFB_END)
        return sfb_async_is_wanted(how) ? capture_async_cbf(buffer, size, how, info, caller)
                                        : -(ssize_t)status;
    if (size < SFB_CBF_SIZE_MIN)
        return -SFB_BUFFER_TOO_SMALL;
    if (status == SFB_END)
        return give_no_cbf(buffer, size, how, info);
    if (size > SSIZE_MAX)
        size = SSIZE_MAX;
    begin_capture(&c, buffer, size, how, info);
    begin_walk_for_cbf(&c, &walk, how, caller);
    c.kind = (uint8_t)walk.walker.anchor_kind;
    status = walk_all(&c, &walk, how);
    return end_capture(&c, &walk, size, status);
}

/* Apart, so that only these callers have the copies on the stack. */
static __attribute__((noinline)) ssize_t translated_cbf(
    void *buffer, size_t size, const struct sframe_backtrace_options *options,
    struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    struct translation ours;
    enum sfb_status status = translate(&ours, options, info);
    ssize_t result;

    if (status != SFB_OK)
        return -(ssize_t)status;
    result = capture_cbf(buffer, size, &ours.options, info ? &ours.info : NULL, caller);
    if (result >= 0 && info)
        sfb_sized_write(info, &ours.info, sizeof ours.info);
    return result;
}

ssize_t sfb_backtrace_cbf_from(void *buffer, size_t size,
                               const struct sframe_backtrace_options *options,
                               struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    if (!are_ours(options, info))
        return translated_cbf(buffer, size, options, info, caller);
    return capture_cbf(buffer, size, options ? options : &defaults, info, caller);
}

/* --- Addresses -------------------------------------------------------------------------------- */

struct addresses {
    void **first, **at, **end;
    uint32_t skip; /* frames still to be left out */
};

static inline uint32_t room_of(const struct addresses *a)
{
    size_t room = (size_t)(a->end - a->at);

    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* Goes on from the walk's frame, already taken, as far as the fast walk goes. */
static inline enum sfb_fast_walk_end go_on(struct addresses *a, struct sfb_capture_walk *walk,
                                           struct sframe_backtrace_info *info)
{
    for (;;) {
        struct sfb_memo_walk *memo = sfb_capture_walk_memo(walk);
        struct sfb_fast_walk_count counts = { 0, 0 }, *count = info ? &counts : NULL;
        enum sfb_fast_walk_end stop;

        if (a->skip > 0)
            stop = sfb_fast_walk_skip(&walk->fast, &a->skip);
        else if (memo && memo->matched > 0)
            stop = sfb_fast_walk_memo_addresses(&walk->fast, &a->at, a->end, count, memo);
        else if (info)
            stop = sfb_fast_walk_counted_addresses(&walk->fast, &a->at, a->end, count, memo);
        else
            stop = sfb_fast_walk_addresses(&walk->fast, &a->at, a->end, memo);
        if (info)
            count_sources(info, count);
        if (stop == SFB_FAST_WALK_MEMO_HIT)
            sfb_capture_walk_memo_hit(walk, room_of(a));
        else if (stop == SFB_FAST_WALK_CHECK_MODULE && !sfb_fast_walk_check_module(&walk->fast))
            return SFB_FAST_WALK_NEEDS_WALKER;
        else if (stop != SFB_FAST_WALK_CHECK_MODULE && stop != SFB_FAST_WALK_MEMO_DIVERGED)
            return stop;
    }
}

/* Removes the last address, which is not a frame. */
static __attribute__((noinline)) void drop_spurious_address(struct addresses *a,
                                                            const struct sfb_capture_walk *walk,
                                                            struct sframe_backtrace_info *info)
{
    if (a->at == a->first)
        return; /* it was left out */
    a->at--;
    if (info)
        sfb_spurious_discount(info, walk, a->at > a->first ? (uintptr_t)a->at[-1] - 1 : 0);
}

/* Hashes the addresses given. known: the hash of their outermost frames */
static __attribute__((noinline)) uint64_t hash_addresses(const struct addresses *a,
                                                         struct sfb_memo_hash known)
{
    for (void **at = a->at - known.frames; at > a->first; at--)
        known.value = sfb_stack_hash_add(known.value, (uintptr_t)at[-1]);
    return sfb_stack_hash_end(known.value);
}

/*
 * @param source  of the frame that the walk stands on
 *
 * @return SFB_END, SFB_UNPROVEN_END, or why the walk stopped. (Inlined where there are no options, and no work for
 *         them.)
 */
static inline __attribute__((always_inline)) enum sfb_status walk_addresses(
    struct addresses *a, struct sfb_capture_walk *walk, void *memo, size_t memo_size,
    struct sframe_backtrace_info *info, uint64_t *hash, struct sframe_backtrace_resume *resume,
    enum sfb_source source)
{
    struct sfb_memo_hash known = { 0, SFB_STACK_HASH_START };
    enum sfb_status status = SFB_OK;
    bool complete = false;

    while (status == SFB_OK) {
        if (a->skip > 0) {
            a->skip--;
        } else if (a->at == a->end) {
            status = SFB_FRAME_LIMIT;
            break;
        } else {
            *a->at++ = (void *)(uintptr_t)walk->fast.pc; /* NOLINT(performance-no-int-to-ptr) */
            if (info)
                info->by_source[source]++;
        }
        /* From the last skipped frame, or the first given one. */
        if (memo && a->skip == 0) {
            sfb_capture_walk_use_memo(walk, memo, memo_size, hash != NULL, room_of(a));
            memo = NULL; /* it is in use from here on */
        }
        switch (go_on(a, walk, info)) {
        case SFB_FAST_WALK_OUTERMOST:
            complete = true;
            status = sfb_capture_walk_outermost(walk);
            break;
        case SFB_FAST_WALK_SINK_FULL:
            source = sfb_fast_walk_source(&walk->fast);
            sfb_capture_walk_sink_full(walk);
            break;
        case SFB_FAST_WALK_NEEDS_WALKER:
            status = sfb_capture_walk_step(walk);
            source = walk->walker.current.source;
            break;
        case SFB_FAST_WALK_CHECK_MODULE:
        case SFB_FAST_WALK_MEMO_HIT:
        case SFB_FAST_WALK_MEMO_DIVERGED: break; /* go_on() does not end so */
        }
    }
    if (info)
        tell_memo(info, walk);
    known.frames = (uint32_t)(a->at - a->first);
    if (__builtin_expect(resume != NULL, 0))
        status = sfb_resume_stop(resume, walk, source, status);
    sfb_capture_walk_end(walk, complete, status, hash ? &known : NULL);
    if (__builtin_expect(sfb_capture_walk_is_spurious(walk), false))
        drop_spurious_address(a, walk, info);
    /* Else the memo's frames are the outermost of the given ones. */
    if (!walk->memo.memo || status == SFB_FRAME_LIMIT || sfb_capture_walk_is_spurious(walk))
        known = (struct sfb_memo_hash){ 0, SFB_STACK_HASH_START };
    if (hash)
        *hash = hash_addresses(a, known);
    return status;
}

/* Addresses only: without options and info. */
static __attribute__((noinline)) ssize_t plain_addresses(void **buffer, size_t count,
                                                         const struct sframe_backtrace_options *how,
                                                         struct sfb_context *caller)
{
    struct sfb_capture_walk walk;
    struct addresses a = { .first = buffer, .at = buffer, .end = buffer + count };

    begin_plain_walk(&walk, how, caller);
    walk_addresses(&a, &walk, NULL, 0, NULL, NULL, NULL, SFB_SOURCE_START);
    return a.at - buffer;
}

static inline bool is_plain(const struct sframe_backtrace_options *how)
{
    return !((uintptr_t)how->memo | (uintptr_t)how->hash | (uintptr_t)how->stack |
             (uintptr_t)how->resume | (uintptr_t)how->read | how->skip | how->max_work |
             (how->flags & SFRAME_BACKTRACE_DOUBT));
}

/* Gives no address: options.resume has given them all. */
static ssize_t give_no_address(const struct sframe_backtrace_options *how,
                               struct sframe_backtrace_info *info)
{
    if (info)
        info->end = sfb_resume_end(how->resume);
    if (how->hash)
        *how->hash = sfb_stack_hash_end(SFB_STACK_HASH_START);
    return 0;
}

/*
 * An async frame's address is given plus 1: its reader looks up the byte before each address.
 *
 * Apart, so that only these calls have the larger walk on the stack.
 */
static __attribute__((noinline)) ssize_t capture_async_addresses(
    void **buffer, size_t count, const struct sframe_backtrace_options *how,
    struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    struct addresses a = { .first = buffer, .at = buffer, .skip = how->skip };
    struct sfb_async_walk walk;
    enum sfb_status status;

    if (!buffer || count == 0 || !is_async_possible(how) || how->outermost > 0)
        return -SFB_BAD_ARGUMENT;
    if (!sfb_may_capture())
        return -SFB_NO_RESOURCE;
    if (count > UINT_MAX)
        count = UINT_MAX;
    if (how->max_frames && how->max_frames < count)
        count = how->max_frames;
    a.end = buffer + count;
    if (info)
        clear_info(info);
    begin_walk(&walk.stack, how, caller);
    status = sfb_async_begin(&walk, how);
    while (status == SFB_OK) {
        if (a.skip > 0) {
            a.skip--;
        } else if (a.at == a.end) {
            status = SFB_FRAME_LIMIT;
            break;
        } else {
            *a.at++ =
                (void *)(uintptr_t)(walk.address + (walk.kind == SFB_FRAME_ASYNC)); /* NOLINT */
            if (info)
                info->by_source[walk.source]++;
        }
        status = sfb_async_step(&walk);
    }
    sfb_capture_walk_end(&walk.stack, false, status, NULL);
    if (sfb_capture_walk_is_spurious(&walk.stack))
        drop_spurious_address(&a, &walk.stack, info);
    if (how->hash)
        *how->hash = hash_addresses(&a, (struct sfb_memo_hash){ 0, SFB_STACK_HASH_START });
    if (info) {
        info->frames = (uint32_t)(a.at - buffer);
        info->end = status;
    }
    return a.at - buffer;
}

static __attribute__((noinline)) ssize_t capture_addresses(
    void **buffer, size_t count, const struct sframe_backtrace_options *how,
    struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    enum sfb_source source = SFB_SOURCE_START;
    struct sfb_capture_walk walk;
    struct addresses a;
    enum sfb_status status;

    if (!buffer || count == 0 || !are_known(how->flags) || how->outermost > 0)
        return sfb_async_is_wanted(how) ? capture_async_addresses(buffer, count, how, info, caller)
                                        : -SFB_BAD_ARGUMENT;
    if (!sfb_may_capture())
        return -SFB_NO_RESOURCE;
    if (count > SSIZE_MAX / sizeof *buffer)
        count = SSIZE_MAX / sizeof *buffer;
    if (how->max_frames && how->max_frames < count)
        count = how->max_frames;
    if (!info && is_plain(how))
        return plain_addresses(buffer, count, how, caller);
    a = (struct addresses){
        .first = buffer, .at = buffer, .end = buffer + count, .skip = how->skip
    };
    if (info)
        clear_info(info);
    if (__builtin_expect(how->resume != NULL, 0)) {
        status = sfb_resume_check(how, caller);
        if (status == SFB_END)
            return give_no_address(how, info);
        if (status != SFB_OK)
            return -(ssize_t)status;
        if (goes_on(how)) {
            a.skip = 0;
            source = sfb_resume_source(how->resume);
        }
    }
    begin_walk(&walk, how, caller);
    status = walk_addresses(&a, &walk, memo_of(how), how->memo_size, info, how->hash, how->resume,
                            source);
    if (info) {
        info->frames = a.at - buffer < UINT_MAX ? (uint32_t)(a.at - buffer) : UINT_MAX;
        info->end = status;
    }
    return a.at - buffer;
}

static __attribute__((noinline)) ssize_t translated_addresses(
    void **buffer, size_t count, const struct sframe_backtrace_options *options,
    struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    struct translation ours;
    enum sfb_status status = translate(&ours, options, info);
    ssize_t result;

    if (status != SFB_OK)
        return -(ssize_t)status;
    result = capture_addresses(buffer, count, &ours.options, info ? &ours.info : NULL, caller);
    if (result >= 0 && info)
        sfb_sized_write(info, &ours.info, sizeof ours.info);
    return result;
}

ssize_t sfb_backtrace_addresses_from(void **buffer, size_t count,
                                     const struct sframe_backtrace_options *options,
                                     struct sframe_backtrace_info *info, struct sfb_context *caller)
{
    if (!are_ours(options, info))
        return translated_addresses(buffer, count, options, info, caller);
    return capture_addresses(buffer, count, options ? options : &defaults, info, caller);
}

int sfb_backtrace_from(void **buffer, int size, struct sfb_context *caller)
{
    if (!buffer || size <= 0 || !sfb_may_capture())
        return 0;
    return (int)plain_addresses(buffer, (size_t)size, &defaults, caller);
}

void sframe_backtrace_refresh(void)
{
    sfb_loader_refresh();
}

unsigned sframe_backtrace_version(void)
{
    return SFRAME_BACKTRACE_VERSION;
}
