#include "recorder/live_view.h"

#include <string.h>

#include "recorder/live_tails.h"

/* An empty backtrace that is truncated: blocks whose stack is not known. */
static const uint8_t no_stack[] = { 0x02, 0x01 };

static bool is_within(uint64_t at, uint64_t count, uint64_t each, uint64_t size)
{
    return at >= SFB_LIVE_PAGE && at <= size && at % SFB_LIVE_UNIT == 0 &&
           count <= (size - at) / each;
}

/* Parts share no byte. */
static bool are_apart(const struct sfb_live *h)
{
    const struct {
        uint64_t at, size;
    } parts[] = { { h->slots_at, (uint64_t)h->slot_room * sizeof(struct sfb_live_slot) },
                  { h->buckets_at, (uint64_t)h->bucket_count * sizeof(uint64_t) },
                  { h->stacks_at, (uint64_t)h->stack_units * SFB_LIVE_UNIT },
                  { h->lists_at, h->lists_size } };

    for (int i = 1; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (parts[i].at < parts[k].at + parts[k].size &&
                parts[k].at < parts[i].at + parts[i].size)
                return false;
    return true;
}

bool sfb_live_is_sound(const struct sfb_live *h, uint64_t size)
{
    return memcmp(h->magic, SFB_LIVE_MAGIC, sizeof h->magic) == 0 &&
           h->version == SFB_LIVE_VERSION && h->size == size && size <= SFB_LIVE_SIZE_MAX &&
           is_within(h->slots_at, h->slot_room, sizeof(struct sfb_live_slot), size) &&
           is_within(h->buckets_at, h->bucket_count, sizeof(uint64_t), size) &&
           is_within(h->stacks_at, h->stack_units, SFB_LIVE_UNIT, size) &&
           is_within(h->lists_at, h->lists_size, 1, size) && h->slots_used <= h->slot_room &&
           h->units_used <= h->stack_units && h->stack_units <= SFB_LIVE_STACK_MAX &&
           h->text_size <= SFB_LIVE_TEXT && are_apart(h);
}

const struct sfb_live_stack *sfb_live_stack_at(const struct sfb_live_view *v, uint32_t id)
{
    const struct sfb_live_stack *stack;

    if (id == 0 || id >= v->head.units_used)
        return NULL;
    stack = (const struct sfb_live_stack *)(const void *)(v->stacks + (size_t)id * SFB_LIVE_UNIT);
    return stack->cbf_size <= SFB_LIVE_CBF_MAX &&
                   sfb_live_stack_units(stack->cbf_size) <= v->head.units_used - id
               ? stack
               : NULL;
}

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

static bool tell_stack(const struct sfb_live_sum *sum, uint32_t id, const void *cbf, size_t size,
                       uint32_t overruns, const struct sfb_live_visitor *visitor)
{
    uint64_t numbers[SFB_LIVE_STACK_NUMBERS];

    sfb_live_stack_numbers(numbers, &sum->of[id], overruns);
    return !visitor->stack || visitor->stack(visitor->user, cbf, size, numbers);
}

/* The stacks of one list. The first one is told with it: a list of which no stack lives is left out. */
static bool tell_stacks(const struct sfb_live_view *v, const struct sfb_live_sum *sum,
                        uint32_t number, uint64_t *stacks, const struct sfb_live_visitor *visitor)
{
    const bool last = number == v->head.list;
    bool told = false;

    for (uint32_t i = 0; i <= v->head.bucket_count; i++) {
        const bool none = i == v->head.bucket_count; /* behind all others: blocks without a stack */
        const uint32_t id = none ? 0
                                 : (uint32_t)(__atomic_load_n(&v->buckets[i], __ATOMIC_ACQUIRE) &
                                              (SFB_LIVE_STACK_MAX - 1));
        const struct sfb_live_stack *stack = sfb_live_stack_at(v, id);
        uint32_t overruns = 0;
        size_t size = sizeof no_stack;

        if (none ? !last : !stack || id >= sum->units || stack->list != (uint16_t)number)
            continue;
        if (stack) {
            overruns = __atomic_load_n(&stack->overruns, __ATOMIC_RELAXED);
            size = stack->cbf_size;
            if (size > SFB_LIVE_CBF_MAX || size == 0)
                continue;
        }
        if (sum->of[id].samples == 0 && overruns == 0)
            continue;
        if (!told && !tell_list(v, number, visitor))
            return false;
        told = true;
        ++*stacks;
        if (!tell_stack(sum, id, stack ? (const void *)(stack + 1) : no_stack, size, overruns,
                        visitor))
            return false;
    }
    return true;
}

static bool end(const struct sfb_live_view *v, const struct sfb_live_sum *sum,
                const struct sfb_live_tails *tails, uint64_t stacks,
                const struct sfb_live_visitor *visitor)
{
    const struct sfb_live_counts *c = &v->head.counts;
    const uint64_t numbers[SFB_LIVE_END_NUMBERS] = {
        [SFB_LIVE_END_STACKS] = stacks,
        [SFB_LIVE_END_BLOCKS] = sfb_live_count(sum->all.blocks),
        [SFB_LIVE_END_BYTES] = sfb_live_count(sum->all.bytes),
        [SFB_LIVE_END_SAMPLES] = sum->all.samples,
        [SFB_LIVE_END_FOREIGN] = c->foreign,
        [SFB_LIVE_END_OVERRUNS] = c->overruns,
        [SFB_LIVE_END_UNTOLD] = c->untold,
        [SFB_LIVE_END_UNSAMPLED] = c->unsampled,
        [SFB_LIVE_END_NO_SLOT] = c->no_slot,
        [SFB_LIVE_END_NO_STACK] = c->no_stack,
        [SFB_LIVE_END_NO_LIST] = c->no_list,
        [SFB_LIVE_END_CHANGED] = sum->changed,
        [SFB_LIVE_END_BAD] = sum->bad,
        [SFB_LIVE_END_CHECKED] = tails ? tails->checked : 0,
        [SFB_LIVE_END_OVERRUNS_LIVE] = tails ? tails->overruns : 0,
        [SFB_LIVE_END_UNREADABLE] = tails ? tails->unreadable + tails->unknown : 0,
    };

    return !visitor->end || visitor->end(visitor->user, numbers);
}

bool sfb_live_visit(const struct sfb_live_view *v, const struct sfb_live_sum *sum,
                    const struct sfb_live_tails *tails, uint64_t monotonic, uint64_t realtime,
                    const struct sfb_live_visitor *visitor)
{
    const uint32_t last = v->head.list,
                   kept = last < SFB_LIVE_LISTS ? last + 1 : (uint32_t)SFB_LIVE_LISTS;
    uint64_t stacks = 0;

    if (!begin(v, monotonic, realtime, visitor))
        return false;
    for (uint32_t i = kept; i-- > 0;)
        if (!tell_stacks(v, sum, last - i, &stacks, visitor))
            return false;
    return end(v, sum, tails, stacks, visitor);
}
