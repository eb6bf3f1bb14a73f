#include "profiler/protocol/live_view.h"

#include <string.h>

#include "profiler/protocol/live_tails.h"

/* An empty truncated backtrace, for blocks whose stack is unknown. */
static const uint8_t no_stack[] = { 0x02, 0x01 };

static bool is_within(uint64_t at, uint64_t count, uint64_t each, uint64_t size)
{
    return at >= SFB_LIVE_PAGE && at <= size && at % SFB_LIVE_UNIT == 0 &&
           count <= (size - at) / each;
}

/* Checks that the parts do not overlap. */
static bool are_apart(const struct sfb_live *h)
{
    const struct {
        uint64_t at, size;
    } parts[] = { { h->slots_at, (uint64_t)h->slot_room * sizeof(struct sfb_live_slot) },
                  { h->stacks_at, (uint64_t)h->stack_room * SFB_LIVE_CELL },
                  { h->pieces_at, (uint64_t)h->piece_room * SFB_LIVE_CELL },
                  { h->lists_at, h->lists_size },
                  { h->freed_at, (uint64_t)h->freed_room * sizeof(struct sfb_live_freed) } };

    for (int i = 1; i < 4 + (h->freed_room > 0); i++)
        for (int k = 0; k < i; k++)
            if (parts[i].at < parts[k].at + parts[k].size &&
                parts[k].at < parts[i].at + parts[i].size)
                return false;
    return true;
}

static bool has_sound_ring(const struct sfb_live *h, uint64_t size)
{
    return h->freed_room == 0 ||
           (h->freed_room <= SFB_LIVE_FREED_MAX && (h->freed_room & (h->freed_room - 1)) == 0 &&
            is_within(h->freed_at, h->freed_room, sizeof(struct sfb_live_freed), size));
}

bool sfb_live_is_sound(const struct sfb_live *h, uint64_t size)
{
    return memcmp(h->magic, SFB_LIVE_MAGIC, sizeof h->magic) == 0 &&
           h->version == SFB_LIVE_VERSION && h->size == size && size <= SFB_LIVE_SIZE_MAX &&
           is_within(h->slots_at, h->slot_room, sizeof(struct sfb_live_slot), size) &&
           is_within(h->stacks_at, h->stack_room, SFB_LIVE_CELL, size) &&
           is_within(h->pieces_at, h->piece_room, SFB_LIVE_CELL, size) &&
           is_within(h->lists_at, h->lists_size, 1, size) && h->slots_used <= h->slot_room &&
           h->stacks.used <= h->stack_room && h->stack_room <= SFB_LIVE_STACK_MAX &&
           h->pieces.used <= h->piece_room && h->piece_room <= SFB_LIVE_PIECE_MAX &&
           h->text_size <= SFB_LIVE_TEXT && has_sound_ring(h, size) && are_apart(h);
}

/* --- stacks --------------------------------------------------------------------------------------- */

#define LOAD(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

static void copy_piece(uint8_t *out, const struct sfb_live_piece *piece, size_t size)
{
    uint32_t words[SFB_LIVE_PIECE_WORDS];

    for (int i = 0; i < SFB_LIVE_PIECE_WORDS; i++)
        words[i] = LOAD(piece->cbf[i]);
    memcpy(out, words, size < SFB_LIVE_PIECE_BYTES ? size : SFB_LIVE_PIECE_BYTES);
}

/* @return false: the chain is too short, or leaves the pieces */
static bool copy_cbf(const struct sfb_live_view *v, uint32_t piece, size_t size, uint8_t *out)
{
    for (size_t at = 0; at < size; at += SFB_LIVE_PIECE_BYTES) {
        if (piece == 0 || piece >= v->head.pieces.used)
            return false;
        copy_piece(out + at, &v->pieces[piece], size - at);
        piece = LOAD(v->pieces[piece].next);
    }
    return true;
}

size_t sfb_live_stack_copy(const struct sfb_live_view *v, uint32_t id, struct sfb_live_stack *out,
                           uint8_t cbf[SFB_LIVE_CBF_MAX])
{
    const struct sfb_live_stack *stack = &v->stacks[id];
    uint32_t state;

    if (id == 0 || id >= v->head.stacks.used)
        return 0;
    state = LOAD(stack->state);
    *out = (struct sfb_live_stack){
        .state = state,
        .next = LOAD(stack->next),
        .hash = LOAD(stack->hash),
        .cbf_size = LOAD(stack->cbf_size),
        .list = LOAD(stack->list),
        .overruns = LOAD(stack->overruns),
    };
    return sfb_live_phase(state) != SFB_LIVE_NO_STACK && out->cbf_size <= SFB_LIVE_CBF_MAX &&
                   copy_cbf(v, out->next, out->cbf_size, cbf) &&
                   sfb_live_generation(LOAD(stack->state)) == sfb_live_generation(state)
               ? out->cbf_size
               : 0;
}

/* --- what is visited ------------------------------------------------------------------------------ */

static size_t path_size(const struct sfb_live *h)
{
    return strnlen(h->text, h->text_size);
}

static bool begin(const struct sfb_live_view *v, uint64_t monotonic, uint64_t realtime,
                  const struct sfb_live_visitor *visitor)
{
    const struct sfb_live *h = &v->head;
    const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS] = {
        [SFB_LIVE_BEGIN_PID] = h->pid,
        [SFB_LIVE_BEGIN_TICKS] = h->ticks,
        [SFB_LIVE_BEGIN_REALTIME] = realtime,
        [SFB_LIVE_BEGIN_MONOTONIC] = monotonic,
        [SFB_LIVE_BEGIN_STARTED] = h->monotonic,
        [SFB_LIVE_BEGIN_ABI] = h->abi,
        [SFB_LIVE_BEGIN_FLAGS] = h->flags,
        [SFB_LIVE_BEGIN_LEVEL] = h->level,
        [SFB_LIVE_BEGIN_LEVEL_MOST] = h->level_most,
        [SFB_LIVE_BEGIN_PATH_SIZE] = path_size(h),
    };

    return !visitor->begin || visitor->begin(visitor->user, numbers, h->text);
}

static bool tell_list(const struct sfb_live_view *v, uint32_t number,
                      const struct sfb_live_visitor *visitor)
{
    const struct sfb_live *h = &v->head;
    const struct sfb_live_list list = h->lists[number % SFB_LIVE_LISTS];
    const uint64_t at = list.place >> 24, size = list.place & 0xffffff;
    const bool known =
        h->list - number < SFB_LIVE_LISTS && at <= h->lists_size && size <= h->lists_size - at;

    return !visitor->list || visitor->list(visitor->user, number, list.time,
                                           known ? v->lists + at : v->lists, known ? size : 0);
}

/* A visit, and what it has met so far. */
struct visit {
    const struct sfb_live_view *view;
    const struct sfb_live_sum *sum;
    const struct sfb_live_visitor *visitor;
    uint64_t stacks, samples;
    double blocks, bytes;
};

static bool tell_stack(struct visit *t, uint32_t id, const void *cbf, size_t size,
                       uint32_t overruns)
{
    const struct sfb_live_amount *of = &t->sum->of[id];
    uint64_t numbers[SFB_LIVE_STACK_NUMBERS];

    t->stacks++;
    t->samples += of->samples;
    t->blocks += of->blocks;
    t->bytes += of->bytes;
    sfb_live_stack_numbers(numbers, of, overruns);
    return !t->visitor->stack || t->visitor->stack(t->visitor->user, cbf, size, numbers);
}

/* Whether a stack has something to tell, in this list or in another one. */
static bool is_told(const struct visit *t, uint32_t id)
{
    return t->sum->of[id].samples > 0 ||
           (sfb_live_phase(LOAD(t->view->stacks[id].state)) != SFB_LIVE_NO_STACK &&
            LOAD(t->view->stacks[id].overruns) > 0);
}

/* Stacks of the list, in the order of their ids. Blocks without a stack come last, with the last list. */
static bool tell_stacks(struct visit *t, uint32_t number)
{
    const struct sfb_live_view *v = t->view;
    const uint32_t count =
        v->head.stacks.used < t->sum->stacks ? v->head.stacks.used : t->sum->stacks;
    uint8_t cbf[SFB_LIVE_CBF_MAX];
    bool told = false;

    for (uint32_t id = 1; id < count; id++) {
        struct sfb_live_stack stack;
        size_t size;

        if (LOAD(v->stacks[id].list) != (uint16_t)number || !is_told(t, id))
            continue;
        size = sfb_live_stack_copy(v, id, &stack, cbf);
        if (size == 0 || stack.list != (uint16_t)number ||
            (t->sum->of[id].samples > 0 && !sfb_live_sum_is_of(&t->sum->of[id], stack.state)))
            continue; /* freed since the sums were made */
        if (!told && !tell_list(v, number, t->visitor))
            return false;
        told = true;
        if (!tell_stack(t, id, cbf, size, stack.overruns))
            return false;
    }
    if (number != v->head.list || t->sum->of[0].samples == 0)
        return true;
    return (told || tell_list(v, number, t->visitor)) &&
           tell_stack(t, 0, no_stack, sizeof no_stack, 0);
}

static bool end(const struct visit *t, const struct sfb_live_tails *tails)
{
    const struct sfb_live_counts *c = &t->view->head.counts;
    const struct sfb_live_sum *sum = t->sum;
    const uint64_t numbers[SFB_LIVE_END_NUMBERS] = {
        [SFB_LIVE_END_STACKS] = t->stacks,
        [SFB_LIVE_END_BLOCKS] = sfb_live_count(t->blocks),
        [SFB_LIVE_END_BYTES] = sfb_live_count(t->bytes),
        [SFB_LIVE_END_SAMPLES] = t->samples,
        [SFB_LIVE_END_FOREIGN] = c->foreign,
        [SFB_LIVE_END_OVERRUNS] = c->overruns,
        [SFB_LIVE_END_UNIDENTIFIED] = c->unidentified,
        [SFB_LIVE_END_UNSAMPLED] = c->unsampled,
        [SFB_LIVE_END_NO_SLOT] = c->no_slot,
        [SFB_LIVE_END_NO_STACK] = c->no_stack,
        [SFB_LIVE_END_NO_LIST] = c->no_list,
        [SFB_LIVE_END_CHANGED] = sum->changed + sum->all.samples - t->samples,
        [SFB_LIVE_END_BAD] = sum->bad,
        [SFB_LIVE_END_CHECKED] = tails ? tails->checked : 0,
        [SFB_LIVE_END_OVERRUNS_LIVE] = tails ? tails->overruns : 0,
        [SFB_LIVE_END_UNREADABLE] = tails ? tails->unreadable + tails->unknown : 0,
        [SFB_LIVE_END_UNSEEN] = t->view->head.unseen + (tails ? tails->unseen : 0),
    };

    return !t->visitor->end || t->visitor->end(t->visitor->user, numbers);
}

bool sfb_live_visit(const struct sfb_live_view *v, const struct sfb_live_sum *sum,
                    const struct sfb_live_tails *tails, uint64_t monotonic, uint64_t realtime,
                    const struct sfb_live_visitor *visitor)
{
    const uint32_t last = v->head.list,
                   kept = last < SFB_LIVE_LISTS ? last + 1 : (uint32_t)SFB_LIVE_LISTS;
    struct visit t = { .view = v, .sum = sum, .visitor = visitor };

    if (!begin(v, monotonic, realtime, visitor))
        return false;
    for (uint32_t i = kept; i-- > 0;)
        if (!tell_stacks(&t, last - i))
            return false;
    return end(&t, tails);
}
