/*
 * Frames that come and go: see shadow.h. All of it runs in the handler.
 *
 * What is not known, and is left out of every verdict:
 * - Frames made by hand (`push address; jmp`) are not in the shadow. A walk that has them, and all
 *   that were called, is "extra"; wrong, if such a frame has returned in the same burst: its word
 *   is stale.
 * - A return address that the code pops is held: code may return to it by a jump, or push it again,
 *   or never go back. A walk may have the frame or not.
 * - A return address that was overwritten in its slot is held, too.
 * - After a change of stacks, or of the whole context by a handler, the burst is over.
 */
#include "shadow.h"

#include "sfb/walk.h"
#include "stepper.h"

const char *const seed_names[SEEDS] = {
    [SEED_PROVEN] = "proven",
    [SEED_BAD_END] = "bad-end",
    [SEED_BAD] = "bad",
    [SEED_SAMPLE_BAD_END] = "sample-bad-end",
    [SEED_SAMPLE_BAD] = "sample-bad",
    [SEED_UNKNOWN] = "unknown",
};

static void leave(struct shadow *sh, size_t count)
{
    sh->count = count;
    if (sh->seeded > count)
        sh->seeded = count;
}

static uint64_t word_at(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address; // NOLINT: an address
}

static bool in_stack(const struct shadow *sh, uint64_t slot)
{
    return slot >= sh->low && slot < sh->end && slot % 8 == 0;
}

/*
 * The front door gives no slots. The walker does; where it finds the same frame, and the word is
 * there, the slot is known.
 */
static void find_slots(struct stepper *s, const ucontext_t *uc)
{
    struct shadow *sh = &s->shadow;
    struct sfb_frame out;

    sfb_context_from_ucontext(&s->context, uc);
    if (sfb_walker_init(&s->walker, &s->context, SFB_FRAME_PC, NULL) != SFB_OK)
        return;
    for (size_t i = 0; i < s->ours.count; i++) {
        struct shadow_frame *f = &sh->frame[s->ours.count - 1 - i];

        if (sfb_walker_next(&s->walker, &out) != SFB_OK || out.address != s->ours.address[i])
            return;
        if (i > 0 && f->kind == SFB_FRAME_RA && in_stack(sh, out.sp - 8) &&
            word_at(out.sp - 8) == f->address)
            f->slot = out.sp - 8;
    }
}

void shadow_seed(struct stepper *s, const ucontext_t *uc, bool sample)
{
    struct shadow *sh = &s->shadow;
    const struct stack *ours = &s->ours;

    shadow_end(sh);
    shadow_look(sh, uc);
    sh->live = true;
    sh->sample = sample;
    sh->contradicted = false;
    sh->seed_status = ours->status;
    sh->top = sh->next.sp;
    sh->sp_set = 0;
    sh->lowered = false;
    sh->count = sh->seeded = ours->count - 1; /* without the pc itself */
    for (size_t i = 1; i < ours->count; i++) {
        struct shadow_frame *f = &sh->frame[ours->count - 1 - i];

        *f = (struct shadow_frame){ .address = ours->address[i], .kind = ours->kind[i] };
    }
    find_slots(s, uc);
}

void shadow_settle(struct shadow *sh, enum truth as)
{
    static const enum truth truths[] = { TRUTH_WRONG_END, TRUTH_WRONG, TRUTH_EXTRA_END,
                                         TRUTH_EXTRA };

    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        shadow_add(&sh->truth[as == TRUTHS ? truths[i] : as], sh->unsettled[truths[i]]);
        sh->unsettled[truths[i]] = 0;
    }
    for (size_t i = 0; as != TRUTHS && i < sh->unsettled_kept; i++)
        atomic_store(&truth_examples[sh->unsettled_example[i] - 1].truth, as);
    sh->unsettled_kept = 0;
    sh->has_left = false;
}

void shadow_end(struct shadow *sh)
{
    uint64_t waiting = 0;

    shadow_settle(sh, TRUTH_UNJUDGED);
    shadow_add(&sh->truth[TRUTH_SAME], sh->same_end + sh->same_stopped);
    sh->same_end = sh->same_stopped = 0;
    for (size_t i = 0; i < sh->waiting_count; i++) {
        waiting +=
            (uint64_t)sh->waiting[i].wrong_end + sh->waiting[i].wrong + sh->waiting[i].shorter;
        sh->waiting[i].wrong_end = sh->waiting[i].wrong = sh->waiting[i].shorter = 0;
        sh->waiting[i].example = 0;
    }
    shadow_add(&sh->truth[TRUTH_SEED], waiting);
    sh->waiting_count = 0;
    sh->live = false;
}

/* The seed said what came true: stacks that said otherwise were wrong. */
static void seed_was_right(struct shadow *sh, size_t i)
{
    enum truth truth = sh->waiting[i].wrong_end ? TRUTH_LATE_WRONG_END : TRUTH_LATE_WRONG;

    shadow_add(&sh->seed[SEED_PROVEN], 1);
    if (i >= sh->waiting_count)
        return;
    shadow_add(&sh->truth[TRUTH_LATE_WRONG_END], sh->waiting[i].wrong_end);
    shadow_add(&sh->truth[TRUTH_LATE_WRONG], sh->waiting[i].wrong);
    shadow_add(&sh->truth[TRUTH_LATE_SHORT], sh->waiting[i].shorter);
    if (sh->waiting[i].example > 0)
        atomic_store(&truth_examples[sh->waiting[i].example - 1].truth, truth);
    sh->waiting[i].wrong_end = sh->waiting[i].wrong = sh->waiting[i].shorter = 0;
    sh->waiting[i].example = 0;
}

/* It did not: stacks that said the same were wrong, and which of the others were right is not
 * known. The next step begins another epoch. */
static void seed_was_wrong(struct shadow *sh)
{
    bool whole = sh->seed_status == SFB_END;

    shadow_add(&sh->seed[whole ? SEED_BAD_END : SEED_BAD], 1);
    if (sh->sample)
        shadow_add(&sh->seed[whole ? SEED_SAMPLE_BAD_END : SEED_SAMPLE_BAD], 1);
    shadow_add(&sh->truth[TRUTH_LATE_WRONG_END], sh->same_end);
    shadow_add(&sh->truth[TRUTH_LATE_WRONG], sh->same_stopped);
    sh->same_end = sh->same_stopped = 0;
    shadow_end(sh);
    sh->contradicted = true;
}

void shadow_push(struct shadow *sh, uint64_t address, uint64_t slot, bool by_handler)
{
    shadow_settle(sh, TRUTHS);
    if (sh->count == FRAMES_MAX) {
        shadow_end(sh);
        return;
    }
    sh->frame[sh->count++] = (struct shadow_frame){
        .address = address, .slot = slot, .kind = SFB_FRAME_RA, .by_handler = by_handler
    };
}

void shadow_return(struct shadow *sh, uint64_t slot, uint64_t address)
{
    size_t i = sh->count;

    shadow_settle(sh, TRUTHS);
    while (i > 0) {
        const struct shadow_frame *f = &sh->frame[i - 1];

        if (f->address == address && (f->held || f->slot == 0 || f->slot == slot))
            break;
        if (f->slot == slot && !f->held) { /* the address was changed in its place */
            leave(sh, i - 1);
            return;
        }
        if (!f->held) { /* a frame further out: what returned is not in the shadow */
            i = 0;
            break;
        }
        i--;
    }
    if (i > 0) {
        sh->returned[sh->returns++ % SHADOW_RETURNED] = address;
        if (i <= sh->seeded && i == sh->count)
            seed_was_right(sh, i - 1);
        leave(sh, i - 1);
        return;
    }
    /* A jump by a word that was pushed in this epoch, or that is no return address. */
    if (sh->count > sh->seeded || slot < sh->top)
        return;
    if (!shadow_behind_call(address) || (sh->count > 0 && sh->frame[sh->count - 1].slot == 0)) {
        shadow_add(&sh->seed[SEED_UNKNOWN], 1);
        shadow_end(sh);
    } else if (sh->count > 0 || sh->seed_status == SFB_END) {
        seed_was_wrong(sh);
    } else { /* an honest seed is used up */
        shadow_end(sh);
    }
}

void shadow_hold(struct shadow *sh, uint64_t slot, uint64_t moved_to)
{
    struct shadow_frame *f;
    size_t n = sh->count;

    while (n > 0 && sh->frame[n - 1].held)
        n--;
    if (n == 0 || sh->frame[n - 1].slot != slot)
        return;
    f = &sh->frame[n - 1];
    leave(sh, n); /* held ones inside were not needed */
    if (moved_to != 0 && in_stack(sh, moved_to)) {
        f->slot = moved_to;
        return;
    }
    f->held = true;
    if (n > 1 && f[-1].held && f[-1].slot == slot) { /* again and again: `call 1f; 1: pop` */
        f[-1] = *f;
        leave(sh, n - 1);
    }
}

void shadow_jump(struct shadow *sh, uint64_t target)
{
    if (sh->has_left)
        shadow_settle(sh, TRUTH_LEAVING);
    if (sh->count > 0 && sh->frame[sh->count - 1].held &&
        sh->frame[sh->count - 1].address == target)
        leave(sh, sh->count - 1);
}

bool shadow_would_prune(const struct shadow *sh, uint64_t sp)
{
    for (size_t i = sh->count; i > 0; i--)
        if (!sh->frame[i - 1].held)
            return sh->frame[i - 1].slot == 0 || sh->frame[i - 1].slot < sp;
    return true;
}

void shadow_prune(struct shadow *sh, uint64_t sp)
{
    for (size_t i = sh->count; i > 0; i--) {
        const struct shadow_frame *f = &sh->frame[i - 1];

        if (f->held)
            continue;
        if (f->slot == 0 || f->slot >= sp)
            break;
        leave(sh, i - 1);
    }
    if (sp > sh->top)
        sh->top = sp;
}
