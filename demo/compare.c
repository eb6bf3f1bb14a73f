/*
 * One sample: both walks from one ucontext, and whether they agree. All of it runs in the handler.
 */
#include <dlfcn.h>
#include <string.h>

#include "machine.h"
#include "oracle.h"
#include "sampler.h"
#include "sfb/cbf.h"

static void add(atomic_uint_least64_t *total, uint64_t n)
{
    atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static enum end own_end(enum sfb_status status)
{
    if (status == SFB_END)
        return END_OUTERMOST;
    return status == SFB_FRAME_LIMIT || status == SFB_BUFFER_FULL ? END_LIMIT : END_STOPPED;
}

/*
 * Reads our backtrace as any user would, from its bytes: an encoder that lost a frame or the
 * difference between pc and ra is found here, too.
 */
static bool decode(struct stack *out, const uint8_t *cbf, size_t size, enum sfb_status end)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options, .flags = SFB_CBF_EXPAND };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;

    out->count = 0;
    if (sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL) != SFB_OK)
        return false;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (out->count == FRAMES_MAX)
            return false;
        out->address[out->count] = item.value;
        out->kind[out->count++] = (uint8_t)item.kind;
    }
    out->status = (int)end;
    out->end = own_end(end);
    /* The last byte has to say the same as the info struct. */
    return status == SFB_END && sfb_cbf_decoder_truncated(&decoder) == (end != SFB_END) &&
           sfb_cbf_decoder_consumed(&decoder) == size;
}

/*
 * Shows that a difference does not go unseen: with SFB_AGENT_SPOIL=N every Nth stack of the oracle
 * is changed, in turn in an address, in a kind, in its length and in its end.
 */
static void spoil_stack(struct stack *stack, uint64_t number)
{
    size_t middle = stack->count / 2;

    if (agent_spoil == 0 || number % agent_spoil != 0)
        return;
    switch (number / agent_spoil % 4) {
    case 0: stack->address[middle]++; break;
    case 1: stack->kind[middle] ^= SFB_FRAME_RA; break;
    case 2: stack->count--; break;
    default: stack->end = END_STOPPED; break;
    }
}

static size_t first_difference(const struct stack *a, const struct stack *b)
{
    size_t i = 0;

    while (i < a->count && i < b->count && a->address[i] == b->address[i] &&
           a->kind[i] == b->kind[i])
        i++;
    return i;
}

static uint64_t lookup_address(const struct stack *stack, size_t i)
{
    return stack->address[i] - (stack->kind[i] == SFB_FRAME_RA);
}

/* Safe in a handler: it takes no lock. */
static bool in_module(uint64_t address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)(uintptr_t)address, &found) == 0; // NOLINT: an address
}

static size_t encode(uint8_t *buffer, size_t size, const struct stack *stack)
{
    struct sfb_cbf_encoder encoder;

    if (sfb_cbf_encoder_init(&encoder, buffer, size, 64) != SFB_OK)
        return 0;
    for (size_t i = 0; i < stack->count; i++) {
        if (sfb_cbf_encoder_put(&encoder, (enum sfb_frame_kind)stack->kind[i], stack->address[i]) !=
            SFB_OK)
            return sfb_cbf_encoder_end(&encoder, true);
    }
    return sfb_cbf_encoder_end(&encoder, stack->end != END_OUTERMOST);
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
            memcpy(out->missed, s->walker.missed, sizeof out->missed);
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
    size_t their_size = encode(s->their_cbf, sizeof s->their_cbf, &s->theirs);
    size_t size = (sizeof(struct difference) + our_size + their_size + 63) & ~(size_t)63;
    size_t at = atomic_fetch_add(&agent_arena_used, size);
    size_t first = first_difference(&s->ours, &s->theirs);
    struct difference *d;

    if (at + size > ARENA_SIZE) {
        atomic_fetch_add(&agent_unrecorded, 1);
        return;
    }
    d = (struct difference *)(void *)(agent_arena + at);
    d->next = (struct difference *)(void *)(agent_arena + at + size);
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
    while (first > 0 && !in_module(lookup_address(&s->ours, first - 1)) &&
           !oracle_at_trampoline(s->ours.address[first - 1])) {
        d->strays++;
        first--;
    }
    if (first > 0)
        d->parting = lookup_address(&s->ours, first - 1);
    find_source(d, s, uc);
    d->our_size = our_size;
    d->their_size = their_size;
    memcpy(d->cbf, s->cbf, our_size);
    memcpy(d->cbf + our_size, s->their_cbf, their_size);
    atomic_store(&d->complete, true);
}

static void keep_largest(struct sampler *s, enum keep which, uint32_t measure, size_t size)
{
    struct kept *kept = &s->kept[which];

    if (measure <= kept->measure)
        return;
    kept->measure = measure;
    kept->frames = (uint32_t)s->ours.count;
    kept->size = size;
    memcpy(kept->cbf, s->cbf, size);
}

static void keep(struct sampler *s, const struct sframe_backtrace_info *info, size_t size)
{
    /* libc's start code is below every stack; what is more than that lies in the middle. */
    uint32_t inner =
        info->by_source[SFB_SOURCE_LIBUNWIND] + info->by_source[SFB_SOURCE_FRAME_POINTER];
    uint32_t distance = info->frames > 26 ? info->frames - 26 : 26 - info->frames;

    keep_largest(s, KEEP_DEEPEST, info->frames, size);
    if (inner > 4 && info->by_source[SFB_SOURCE_SFRAME] > 8 && distance < 20)
        keep_largest(s, KEEP_MIXED, inner, size);
    if (distance < 20)
        keep_largest(s, KEEP_SIGNAL, info->by_source[SFB_SOURCE_SIGNAL], size);
    /* The last one of about the right depth: the first are from the start of the program. */
    if (distance < 8) {
        s->kept[KEEP_READABLE].measure = 0;
        keep_largest(s, KEEP_READABLE, 1, size);
    }
}

void compare_sample(struct sampler *s, ucontext_t *uc)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = uc,
                                                .max_frames = FRAMES_MAX };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint64_t start = now_ns();
    ssize_t size = sframe_backtrace_cbf(s->cbf, sizeof s->cbf, &options, &info);
    uint64_t middle = now_ns();

    oracle_walk(s, uc);
    add(&s->their_ns, now_ns() - middle);
    add(&s->own_ns, middle - start);
    add(&s->stacks, 1);
    add(&s->link_signed, machine_link_is_signed(uc));
    if (size < 0 || !decode(&s->ours, s->cbf, (size_t)size, info.end) ||
        info.frames != s->ours.count) {
        add(&s->failed, 1);
        return;
    }
    spoil_stack(&s->theirs, atomic_load_explicit(&s->stacks, memory_order_relaxed));

    add(&s->frames, s->ours.count);
    add(&s->bytes, (uint64_t)size);
    for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
        add(&s->by_source[i], info.by_source[i]);
    add(&s->end[(unsigned)info.end % END_MAX], 1);
    keep(s, &info, (size_t)size);

    /*
     * Two walks may agree on nonsense: what is in no module is no frame of any of these programs,
     * unless it is the kernel's trampoline.
     */
    for (size_t i = 0; i < s->ours.count; i++) {
        if (!in_module(lookup_address(&s->ours, i)) && !oracle_at_trampoline(s->ours.address[i])) {
            add(&s->stray, 1);
            break;
        }
    }
    if (s->ours.count == s->theirs.count && s->ours.end == s->theirs.end &&
        s->theirs.status != ORACLE_FAULT &&
        first_difference(&s->ours, &s->theirs) == s->ours.count) {
        add(&s->identical, 1);
    } else {
        if (s->theirs.sp_rule && s->ours.end == END_OUTERMOST)
            add(&s->sp_rule, 1);
        record_difference(s, uc, (size_t)size);
    }
}
