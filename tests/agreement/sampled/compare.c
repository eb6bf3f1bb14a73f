/*
 * One sample: both walks from one ucontext, and whether they agree. All of it runs in the handler.
 */
#include <string.h>

#include "oracles/loaded.h"
#include "oracles/machine.h"
#include "sampler.h"

static void add(atomic_uint_least64_t *total, uint64_t n)
{
    atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Walks again, by the layer that tells who found each frame. */
static void find_source(struct difference *out, struct sampler *s, const ucontext_t *uc)
{
    struct sfb_frame frame;

    out->source = SFB_SOURCE_COUNT;
    if (sfb_context_from_ucontext(&s->context, uc) != SFB_OK)
        return;
    out->context = s->context;
    if (sfb_walker_init(&s->walker, &s->context, SFB_FRAME_PC, NULL) != SFB_OK)
        return;
    out->walker_agrees = true;
    for (uint32_t i = 0; i <= out->first; i++) {
        if (sfb_walker_next(&s->walker, &frame) != SFB_OK) {
            memcpy(out->missed, sfb_walker_frame(&s->walker)->missed, sizeof out->missed);
            out->walker_agrees = i == s->ours.count;
            return;
        }
        if (i >= s->ours.count || frame.address != s->ours.address[i])
            out->walker_agrees = false;
    }
    out->source = (uint8_t)frame.source;
    memcpy(out->missed, frame.missed, sizeof out->missed);
}

static void record_difference(struct sampler *s, const ucontext_t *uc, size_t our_size)
{
    size_t their_size = stack_encode(s->their_cbf, sizeof s->their_cbf, &s->theirs);
    size_t size = (sizeof(struct difference) + our_size + their_size + 63) & ~(size_t)63;
    size_t at = atomic_fetch_add(&sampler_arena_used, size);
    size_t first = stack_first_difference(&s->ours, &s->theirs);
    struct difference *d;

    if (at + size > ARENA_SIZE) {
        atomic_fetch_add(&sampler_unrecorded, 1);
        return;
    }
    d = (struct difference *)(void *)(sampler_arena + at);
    d->next = (struct difference *)(void *)(sampler_arena + at + size);
    d->pc = machine_pc(uc);
    for (size_t i = 0; i < first; i++)
        if (s->ours.kind[i] == SFB_FRAME_PC)
            d->pc = s->ours.address[i];
    d->first = (uint32_t)first;
    d->our_count = (uint32_t)s->ours.count;
    d->their_count = (uint32_t)s->theirs.count;
    d->our_status = s->ours.status;
    d->their_status = s->theirs.status;
    d->sp_rule = s->theirs.sp_rule;
    while (first > 0 && !stack_in_module(stack_lookup_address(&s->ours, first - 1)) &&
           !oracle_at_trampoline(s->ours.address[first - 1])) {
        d->strays++;
        first--;
    }
    if (first > 0)
        d->parting = stack_lookup_address(&s->ours, first - 1);
    find_source(d, s, uc);
    d->our_size = our_size;
    d->their_size = their_size;
    memcpy(d->cbf, s->cbf, our_size);
    memcpy(d->cbf + our_size, s->their_cbf, their_size);
    atomic_store(&d->complete, true);
}

void compare_sample(struct sampler *s, ucontext_t *uc)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = uc,
                                                .max_frames = FRAMES_MAX };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint64_t start = now_ns();
    ssize_t size = sframe_backtrace_cbf(s->cbf, sizeof s->cbf, &options, &info);
    uint64_t middle = now_ns(), number;

    oracle_walk(sampler_oracle, &s->oracle, &s->theirs, uc);
    add(&s->their_ns, now_ns() - middle);
    add(&s->own_ns, middle - start);
    add(&s->stacks, 1);
    add(&s->link_signed, machine_link_is_signed(uc));
    if (size < 0 || !stack_decode(&s->ours, s->cbf, (size_t)size, info.end) ||
        info.frames != s->ours.count) {
        add(&s->failed, 1);
        return;
    }
    number = atomic_load_explicit(&s->stacks, memory_order_relaxed);
    if (sampler_spoil > 0 && number % sampler_spoil == 0)
        stack_spoil(&s->theirs, number / sampler_spoil);

    add(&s->frames, s->ours.count);
    add(&s->bytes, (uint64_t)size);
    for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
        add(&s->by_source[i], info.by_source[i]);
    add(&s->end[(unsigned)info.end % END_MAX], 1);
    if (s->ours.count > atomic_load_explicit(&s->deepest, memory_order_relaxed))
        atomic_store_explicit(&s->deepest, s->ours.count, memory_order_relaxed);

    /*
     * Two walks may agree on nonsense: what is in no module is no frame of any of these programs,
     * unless it is the kernel's trampoline.
     */
    for (size_t i = 0; i < s->ours.count; i++) {
        if (!stack_in_module(stack_lookup_address(&s->ours, i)) &&
            !oracle_at_trampoline(s->ours.address[i])) {
            add(&s->stray, 1);
            break;
        }
    }
    if (stack_same(&s->ours, &s->theirs)) {
        add(&s->identical, 1);
    } else {
        if (s->theirs.sp_rule && s->ours.end == END_OUTERMOST)
            add(&s->sp_rule, 1);
        record_difference(s, uc, (size_t)size);
    }
}
