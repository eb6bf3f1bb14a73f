/* A walk against the shadow: see shadow.h. All of it runs in the handler. */
#include <string.h>

#include "oracles/machine.h"
#include "stepper.h"

const char *const truth_names[TRUTHS] = {
    [TRUTH_SAME] = "same",
    [TRUTH_WRONG_END] = "wrong-end",
    [TRUTH_WRONG] = "wrong",
    [TRUTH_SHORT] = "short",
    [TRUTH_EXTRA_END] = "extra-end",
    [TRUTH_EXTRA] = "extra",
    [TRUTH_LATE_WRONG_END] = "late-wrong-end",
    [TRUTH_LATE_WRONG] = "late-wrong",
    [TRUTH_LATE_SHORT] = "late-short",
    [TRUTH_LEAVING] = "leaving",
    [TRUTH_LONGER] = "longer",
    [TRUTH_SEED_BAD] = "seed-bad",
    [TRUTH_SEED] = "seed",
    [TRUTH_UNJUDGED] = "unjudged",
};

struct truth_example *truth_examples;
atomic_size_t truth_examples_used;

/* Its word is another one by now: whoever overwrote it knows what for. */
static bool is_overwritten(const struct shadow_frame *f)
{
    return f->slot != 0 &&
           *(const volatile uint64_t *)(uintptr_t)f->slot != f->address; // NOLINT: an address
}

/*
 * How far a stack is as the shadow says, from inside.
 *
 * @param ours   the index of the first frame of the stack that differs
 * @param frame  the number of the shadow's frames that the stack does not have
 */
static void match(const struct shadow *sh, const struct stack *stack, size_t *ours, size_t *frame)
{
    size_t i = 1, n = sh->count; /* frame 0 is the pc, which is given */

    while (n > 0) {
        const struct shadow_frame *f = &sh->frame[n - 1];
        bool optional = f->held || is_overwritten(f);

        if (i < stack->count && stack->address[i] == f->address &&
            (stack->kind[i] == f->kind || f->by_handler))
            i++;
        else if (optional && !f->held && i < stack->count && f->slot != 0 &&
                 stack->address[i] == *(const uint64_t *)(uintptr_t)f->slot) // NOLINT: an address
            i++;
        else if (!optional)
            break;
        n--;
    }
    *ours = i;
    *frame = n;
}

static bool has_returned(const struct shadow *sh, uint64_t address)
{
    for (size_t i = 0; i < SHADOW_RETURNED; i++)
        if (sh->returned[i] == address)
            return true;
    return false;
}

/*
 * In a recursion a frame that is missing looks like others that are more, until the outer end. And
 * one that has returned is no frame any more, whoever finds its address on the stack.
 *
 * @return whether all of the shadow's frames from `frame` outwards are in it, between others
 */
static bool has_all(const struct shadow *sh, const struct stack *stack, size_t i, size_t frame)
{
    while (frame > 0) {
        if (sh->frame[frame - 1].held || is_overwritten(&sh->frame[frame - 1])) {
            frame--;
            continue;
        }
        while (i < stack->count && stack->address[i] != sh->frame[frame - 1].address)
            if (has_returned(sh, stack->address[i++]))
                return false;
        if (i == stack->count)
            return false;
        i++;
        frame--;
    }
    return true;
}

static atomic_size_t kept[TRUTHS];

/* @return its number + 1; 0: there is no more room */
static uint32_t keep(struct stepper *s, const ucontext_t *uc, enum truth truth, size_t differs)
{
    const struct shadow *sh = &s->shadow;
    size_t from = differs > 4 ? differs - 4 : 0, at;
    struct truth_example *e;

    /* What is frequent leaves room for what is rare. */
    if (atomic_fetch_add(&kept[truth], 1) >= TRUTH_EXAMPLES / TRUTHS)
        return 0;
    at = atomic_fetch_add(&truth_examples_used, 1);
    if (at >= TRUTH_EXAMPLES)
        return 0;
    e = &truth_examples[at];
    atomic_store(&e->truth, truth);
    e->status = s->ours.status;
    e->pc = machine_pc(uc);
    /* As many as are on the page: the next one need not be there. */
    for (size_t i = 0; i < TRUTH_BYTES && (i == 0 || (e->pc + i) % 4096 != 0); i++)
        e->code[i] = ((const uint8_t *)(uintptr_t)e->pc)[i]; // NOLINT: an address
    e->ours_count = (uint32_t)s->ours.count;
    e->shadow_count = (uint32_t)sh->count + 1;
    e->certain = (uint32_t)(sh->count - sh->seeded) + 1;
    e->first = (uint32_t)differs;
    e->from = (uint32_t)from;
    for (size_t i = 0; i < TRUTH_FRAMES; i++) {
        size_t n = from + i;

        e->ours[i] = n < s->ours.count ? s->ours.address[n] : 0;
        e->shadow[i] = 0;
        if (n <= sh->count)
            e->shadow[i] = n == 0 ? e->pc : sh->frame[sh->count - n].address;
    }
    sfb_context_from_ucontext(&s->context, uc);
    e->source = source_of(s, differs);
    atomic_store(&e->complete, true);
    return (uint32_t)at + 1;
}

void shadow_keep_contradiction(struct stepper *s, const ucontext_t *uc)
{
    uint32_t example = keep(s, uc, TRUTH_SEED_BAD, 1);

    if (example > 0)
        truth_examples[example - 1].status = s->shadow.seed_status;
}

/* Differs from what the seed says of its frame number `frame`: told when that frame returns. */
static void wait_for(struct stepper *s, const ucontext_t *uc, size_t differs, size_t frame)
{
    struct shadow *sh = &s->shadow;

    while (sh->waiting_count <= frame)
        memset(&sh->waiting[sh->waiting_count++], 0, sizeof *sh->waiting);
    if (s->ours.status == SFB_END)
        sh->waiting[frame].wrong_end++;
    else if (differs >= s->ours.count)
        sh->waiting[frame].shorter++;
    else
        sh->waiting[frame].wrong++;
    if (sh->waiting[frame].example == 0)
        sh->waiting[frame].example = keep(s, uc, TRUTH_SEED, differs);
}

/*
 * libunwind guesses by rbp where it has no table, and goes on in what it finds. So each frame that it
 * has more has to be code, and the last one the outermost.
 */
void shadow_judge_longer(struct stepper *s, const ucontext_t *uc, const struct stack *theirs,
                         atomic_uint_least64_t *total)
{
    size_t i = s->ours.count, n = i, ours, frame;
    uint32_t example;

    match(&s->shadow, theirs, &ours, &frame);
    if (theirs->end != END_OUTERMOST || theirs->count <= n || frame > s->shadow.seeded ||
        stack_first_difference(&s->ours, theirs) < n)
        return;
    for (; i < theirs->count; i++)
        if (!stack_in_module(stack_lookup_address(theirs, i)))
            return;
    shadow_add(total, 1);
    example = keep(s, uc, TRUTH_LONGER, n);
    if (example == 0)
        return;
    /* Theirs stands in the shadow's place. */
    for (i = 0; i < TRUTH_FRAMES; i++) {
        struct truth_example *e = &truth_examples[example - 1];

        e->shadow_count = (uint32_t)theirs->count;
        e->shadow[i] = e->from + i < theirs->count ? theirs->address[e->from + i] : 0;
    }
}

/* Seems to be so, unless it is half-way to a jump: the jump, or what comes instead, settles it. */
static void leave_unsettled(struct stepper *s, const ucontext_t *uc, enum truth truth,
                            size_t differs)
{
    struct shadow *sh = &s->shadow;
    const uint32_t example = keep(s, uc, truth, differs);

    sh->unsettled[truth]++;
    if (example > 0 && sh->unsettled_kept < UNSETTLED_EXAMPLES)
        sh->unsettled_example[sh->unsettled_kept++] = example;
}

void shadow_judge(struct stepper *s, const ucontext_t *uc)
{
    struct shadow *sh = &s->shadow;
    bool whole = s->ours.status == SFB_END;
    size_t ours, frame;
    enum truth truth;

    if (!sh->live) {
        shadow_add(&sh->truth[TRUTH_UNJUDGED], 1);
        return;
    }
    match(sh, &s->ours, &ours, &frame);
    if (frame > sh->seeded) {
        if (has_all(sh, &s->ours, ours, frame))
            truth = whole ? TRUTH_EXTRA_END : TRUTH_EXTRA;
        else if (whole)
            truth = TRUTH_WRONG_END;
        else
            truth = ours >= s->ours.count ? TRUTH_SHORT : TRUTH_WRONG;
        if (truth == TRUTH_SHORT) {
            keep(s, uc, truth, ours);
            shadow_add(&sh->truth[truth], 1);
        } else {
            leave_unsettled(s, uc, truth, ours);
        }
    } else if (frame == 0 && ours >= s->ours.count) {
        if (whole)
            sh->same_end++;
        else
            sh->same_stopped++;
    } else if (has_all(sh, &s->ours, ours, frame)) { /* and more than the seed, perhaps behind it */
        shadow_add(&sh->truth[TRUTH_SEED], 1);
    } else if (sh->has_left) { /* to where setjmp() has returned in this burst: a frame again */
        leave_unsettled(s, uc, whole ? TRUTH_WRONG_END : TRUTH_WRONG, ours);
    } else {
        wait_for(s, uc, ours, frame - 1);
    }
}
