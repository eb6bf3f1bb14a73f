#include "profiler/agent/live/reclaim.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/live/cells.h"
#include "profiler/agent/live/live_stacks.h"
#include "profiler/agent/live/map.h"

enum {
    SLOTS = 2048,
    STACKS = 128, /* each may be freed, with a search in the buckets */
    SHARE_LEFT = 4,
    MARKS = 64
};

enum { AT_REST, AT_SLOTS, AT_STACKS };

/* A dump copies the header meanwhile. */
#define SET(member, value) __atomic_store_n(&(member), (value), __ATOMIC_RELAXED)
#define GET(member)        __atomic_load_n(&(member), __ATOMIC_RELAXED)

static long membarrier(int command)
{
    const int saved = errno;
    const long result = syscall(SYS_membarrier, command, 0, 0);

    errno = saved;
    return result;
}

bool sfb_live_reclaim_begin(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

static bool is_short(const struct sfb_live_area *area)
{
    return sfb_live_cells_left(area) < area->room / SHARE_LEFT;
}

/* --- marks ---------------------------------------------------------------------------------------- */

static bool have_marks(const struct sfb_live_table *t)
{
    uint32_t *ready = &t->map->reclaim.ready;

    if (!GET(*ready))
        SET(*ready,
            sfb_live_map_populate(t->map, (uint64_t)((uint8_t *)t->marks - (uint8_t *)t->map),
                                  (t->stack_room + MARKS - 1) / MARKS * sizeof *t->marks));
    return GET(*ready);
}

static void mark(const struct sfb_live_table *t, uint32_t stack)
{
    if (stack < t->stack_room)
        t->marks[stack / MARKS] |= (uint64_t)1 << stack % MARKS;
}

static bool take_mark(const struct sfb_live_table *t, uint32_t stack)
{
    uint64_t *const word = &t->marks[stack / MARKS], bit = (uint64_t)1 << stack % MARKS;
    const bool was = *word & bit;

    *word &= ~bit;
    return was;
}

/* --- the walk ------------------------------------------------------------------------------------- */

static void mark_slot(const struct sfb_live_table *t, uint32_t slot)
{
    const uint64_t block = __atomic_load_n(&t->slots[slot].block, __ATOMIC_SEQ_CST);

    if (sfb_live_is_block(block) || block == SFB_LIVE_HELD)
        mark(t, sfb_live_stack_of(__atomic_load_n(&t->slots[slot].what, __ATOMIC_RELAXED)));
}

static void judge(const struct sfb_live_table *t, uint32_t id)
{
    struct sfb_live_stack *stack = &t->stacks[id];
    uint32_t state = __atomic_load_n(&stack->state, __ATOMIC_ACQUIRE);
    const uint32_t generation = sfb_live_generation(state) << 2;
    const bool kept = take_mark(t, id) || __atomic_load_n(&stack->overruns, __ATOMIC_RELAXED) > 0;

    if (kept && sfb_live_phase(state) == SFB_LIVE_DOOMED)
        __atomic_compare_exchange_n(&stack->state, &state, generation | SFB_LIVE_STACK, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    else if (!kept && sfb_live_phase(state) == SFB_LIVE_STACK)
        __atomic_compare_exchange_n(&stack->state, &state, generation | SFB_LIVE_DOOMED, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    else if (!kept && sfb_live_phase(state) == SFB_LIVE_DOOMED && sfb_live_stack_free(t, id, state))
        __atomic_fetch_add(&t->map->reclaim.freed, 1, __ATOMIC_RELAXED);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void begin_phase(struct sfb_live_reclaim *r, uint32_t phase, uint32_t end)
{
    SET(r->at, 1);
    SET(r->end, end);
    SET(r->phase, phase);
}

/* The barrier precedes the reads of the slots and of their number. */
static void begin_walk(const struct sfb_live_table *t)
{
    if (!have_marks(t) || (!t->fences && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0))
        return;
    begin_phase(&t->map->reclaim, AT_SLOTS, __atomic_load_n(&t->map->slots_used, __ATOMIC_SEQ_CST));
}

static void walk_slots(const struct sfb_live_table *t)
{
    struct sfb_live_reclaim *r = &t->map->reclaim;
    const uint32_t from = GET(r->at), end = least(GET(r->end), t->slot_room),
                   to = least(end, from + SLOTS);

    for (uint32_t i = from; i < to; i++)
        mark_slot(t, i);
    SET(r->at, to);
    if (to >= end)
        begin_phase(r, AT_STACKS, GET(t->map->stacks.used));
}

static void walk_stacks(const struct sfb_live_table *t)
{
    struct sfb_live_reclaim *r = &t->map->reclaim;
    const uint32_t from = GET(r->at), end = least(GET(r->end), t->stack_room),
                   to = least(end, from + STACKS);

    for (uint32_t i = from; i < to; i++)
        judge(t, i);
    SET(r->at, to);
    if (to >= end)
        SET(r->phase, AT_REST);
}

static void step(const struct sfb_live_table *t)
{
    if (GET(t->map->reclaim.phase) == AT_REST)
        begin_walk(t);
    if (GET(t->map->reclaim.phase) == AT_SLOTS)
        walk_slots(t);
    else if (GET(t->map->reclaim.phase) == AT_STACKS)
        walk_stacks(t);
}

void sfb_live_reclaim_step(const struct sfb_live_table *t)
{
    const struct sfb_live_area stacks = sfb_live_stacks_of(t), pieces = sfb_live_pieces_of(t);
    uint32_t *lock = &t->map->reclaim.lock;

    if ((!is_short(&stacks) && !is_short(&pieces)) ||
        __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    step(t);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
