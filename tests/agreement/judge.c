/* One stack, from three walkers; all of it runs in the handler. See stepper.h. */
#include <string.h>

#include "oracles/machine.h"
#include "stepper.h"

const char *const verdict_names[VERDICTS] = {
    [SAME_AS_BOTH] = "both", [SAME_AS_LIBUNWIND] = "libunwind", [SAME_AS_LIBGCC] = "libgcc",
    [ALONE] = "alone",       [ORACLES_AGREE] = "oracles-agree",
};

static void add(atomic_uint_least64_t *total, uint64_t n)
{
    atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static enum verdict verdict_of(const struct stepper *s)
{
    bool libunwind = stack_same(&s->ours, &s->libunwind);
    bool libgcc = stack_same(&s->ours, &s->libgcc);

    if (libunwind && libgcc)
        return SAME_AS_BOTH;
    if (libunwind)
        return SAME_AS_LIBUNWIND;
    if (libgcc)
        return SAME_AS_LIBGCC;
    return stack_same(&s->libunwind, &s->libgcc) ? ORACLES_AGREE : ALONE;
}

/* Walks again, by the layer that tells who found each frame. */
uint8_t source_of(struct stepper *s, size_t frame)
{
    struct sfb_frame out;

    if (sfb_walker_init(&s->walker, &s->context, SFB_FRAME_PC, NULL) != SFB_OK)
        return SFB_SOURCE_COUNT;
    for (size_t i = 0; i <= frame; i++)
        if (sfb_walker_next(&s->walker, &out) != SFB_OK)
            return SFB_SOURCE_COUNT;
    return (uint8_t)out.source;
}

/* From a few frames before the one that differs. */
static void cut_out(struct cut *out, const struct stack *stack, size_t differs)
{
    size_t first = differs > 6 ? differs - 6 : 0;
    size_t n = stack->count > first ? stack->count - first : 0;

    if (n > EXAMPLE_FRAMES)
        n = EXAMPLE_FRAMES;
    out->count = (uint32_t)stack->count;
    out->first = (uint32_t)first;
    out->status = stack->status;
    out->end = stack->end;
    memcpy(out->address, stack->address + first, n * sizeof *out->address);
    memcpy(out->kind, stack->kind + first, n);
}

static uint64_t frame_after(const struct stack *stack, size_t i)
{
    return i < stack->count ? stack_lookup_address(stack, i) : 0;
}

static void record(struct stepper *s, const ucontext_t *uc, enum verdict verdict)
{
    size_t at = atomic_fetch_add(&differences_used, 1);
    size_t first = oracles[0] ? stack_first_difference(&s->ours, &s->libunwind) : s->ours.count;
    size_t other = oracles[1] ? stack_first_difference(&s->ours, &s->libgcc) : s->ours.count;
    struct difference *d = &differences[at];

    if (at >= ARENA_SIZE / sizeof *d)
        return;
    /* Where the first of those parted that are not of our mind. */
    if (verdict == SAME_AS_LIBUNWIND || (verdict != SAME_AS_LIBGCC && other < first))
        first = other;
    d->verdict = verdict;
    d->pc = machine_pc(uc);
    for (size_t i = 0; i < first; i++)
        if (s->ours.kind[i] == SFB_FRAME_PC)
            d->pc = s->ours.address[i];
    d->sp_rule = s->libunwind.sp_rule;
    d->parting = first > 0 ? stack_lookup_address(&s->ours, first - 1) : 0;
    d->ours_after = frame_after(&s->ours, first);
    d->libunwind_after = frame_after(&s->libunwind, first);
    d->libgcc_after = frame_after(&s->libgcc, first);
    sfb_context_from_ucontext(&s->context, uc);
    d->context = s->context;
    d->source = source_of(s, first);
    cut_out(&d->ours, &s->ours, first);
    cut_out(&d->libunwind, &s->libunwind, first);
    cut_out(&d->libgcc, &s->libgcc, first);
    atomic_store(&d->complete, true);
}

static void ask_oracles(struct stepper *s, ucontext_t *uc)
{
    uint64_t number = atomic_load_explicit(&s->stacks, memory_order_relaxed);

    oracle_walk(oracles[0], &s->oracle, &s->libunwind, uc);
    oracle_walk(oracles[1], &s->oracle, &s->libgcc, uc);
    add(&s->libunwind_faults, s->libunwind.status == ORACLE_FAULT);
    add(&s->libgcc_faults, s->libgcc.status == ORACLE_FAULT);
    if (spoil > 0 && number % spoil == 0) {
        stack_spoil(&s->libunwind, number / spoil);
        stack_spoil(&s->libgcc, number / spoil);
    }
}

static void compare(struct stepper *s, const ucontext_t *uc)
{
    enum verdict verdict = verdict_of(s);

    add(&s->verdict[verdict], 1);
    if (verdict != SAME_AS_BOTH)
        record(s, uc, verdict);
}

bool take_stack(struct stepper *s, ucontext_t *uc, struct sframe_backtrace_info *info)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = uc,
                                                .max_frames = FRAMES_MAX };
    ssize_t size;

    *info = (struct sframe_backtrace_info){ .size = sizeof *info };
    size = sframe_backtrace_cbf(s->cbf, sizeof s->cbf, &options, info);
    return size >= 0 && stack_decode(&s->ours, s->cbf, (size_t)size, info->end) &&
           info->frames == s->ours.count && s->ours.count > 0;
}

/* For the check of the check: an address, or the number of frames. */
static void spoil_ours(struct stepper *s)
{
    uint64_t number = atomic_load_explicit(&s->stacks, memory_order_relaxed);

    if (spoil == 0 || number % spoil != 0 || s->ours.count < 2)
        return;
    stack_spoil(&s->ours, number / spoil % 2 * 2);
    add(&s->spoilt, 1);
}

void judge(struct stepper *s, ucontext_t *uc)
{
    struct sframe_backtrace_info info;

    add(&s->stacks, 1);
    if (!take_stack(s, uc, &info)) {
        add(&s->failed, 1);
        return;
    }
    add(&s->frames, s->ours.count);
    for (unsigned i = 0; i < SFB_SOURCE_COUNT; i++) {
        add(&s->by_source[i], info.by_source[i]);
        add(&s->with_source[i], info.by_source[i] > 0);
    }
    add(&s->end[(unsigned)info.end % END_MAX], 1);
    /* Walkers may agree on nonsense: an address that is in no module is no frame, or made code. */
    for (size_t i = 0; i < s->ours.count; i++) {
        if (!stack_in_module(stack_lookup_address(&s->ours, i)) &&
            !oracle_at_trampoline(s->ours.address[i])) {
            add(&s->stray, 1);
            break;
        }
    }
    if (oracles[0])
        ask_oracles(s, uc);
    if (s->burst > 0) {
        spoil_ours(s);
        shadow_judge(s, uc);
        if (oracles[0]) {
            shadow_judge_longer(s, uc, &s->libunwind, &s->shorter_than[0]);
            shadow_judge_longer(s, uc, &s->libgcc, &s->shorter_than[1]);
        }
    } else if (oracles[0]) {
        compare(s, uc);
    } else if (info.end != SFB_END) { /* where it stopped is worth a look */
        record(s, uc, ALONE);
    }
}
