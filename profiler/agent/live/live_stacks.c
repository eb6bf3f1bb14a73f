#include "profiler/agent/live/live_stacks.h"

#include <string.h>

#include "profiler/agent/live/cells.h"
#include "profiler/agent/live/map.h"

/* A bucket whose stack was freed: the search continues after it. */
#define GONE (~(uint64_t)(SFB_LIVE_STACK_MAX - 1))

/* Releases: a reader that sees a new stack's bytes sees its new generation, too. */
#define STORE(member, value) __atomic_store_n(&(member), (value), __ATOMIC_RELEASE)

/* --- memory of buckets ---------------------------------------------------------------------------- */

bool sfb_live_stacks_populate(struct sfb_live_thread *thread, uint32_t part)
{
    const struct sfb_live_table *t = &thread->table;
    const uint64_t bit = (uint64_t)1 << part, size = sizeof(uint64_t) << t->buckets_shift;

    thread->buckets_ready = __atomic_load_n(&t->map->buckets_ready, __ATOMIC_ACQUIRE);
    if (thread->buckets_ready & bit)
        return true;
    if (!sfb_live_map_populate(
            t->map, (uint64_t)((uint8_t *)t->buckets - (uint8_t *)t->map) + part * size, size))
        return false;
    thread->buckets_ready = __atomic_or_fetch(&t->map->buckets_ready, bit, __ATOMIC_ACQ_REL);
    return true;
}

/* --- CBF ------------------------------------------------------------------------------------------ */

/* A dump may read a piece while another stack takes it. */
static void write_piece(struct sfb_live_piece *piece, const uint8_t *cbf, size_t size)
{
    uint32_t words[SFB_LIVE_PIECE_WORDS] = { 0 };

    memcpy(words, cbf, size < SFB_LIVE_PIECE_BYTES ? size : SFB_LIVE_PIECE_BYTES);
    for (int i = 0; i < SFB_LIVE_PIECE_WORDS; i++)
        __atomic_store_n(&piece->cbf[i], words[i], __ATOMIC_RELEASE);
}

/* Frees the pieces of a CBF. */
static void free_cbf(const struct sfb_live_table *t, uint32_t first, uint32_t count)
{
    const struct sfb_live_area pieces = sfb_live_pieces_of(t);
    uint32_t last = first, n = 1;

    if (first == 0 || first >= t->piece_room)
        return;
    for (; n < count; n++) {
        const uint32_t next = __atomic_load_n(&t->pieces[last].next, __ATOMIC_RELAXED);

        if (next == 0 || next >= t->piece_room)
            break;
        last = next;
    }
    sfb_live_cells_give(&pieces, first, last, n);
}

/* Writes the last piece first, so that each has its link at once. @return the first piece; 0: no room */
static uint32_t store_cbf(const struct sfb_live_table *t, const uint8_t *cbf, size_t size)
{
    const struct sfb_live_area pieces = sfb_live_pieces_of(t);
    const uint32_t count = sfb_live_pieces(size);
    uint32_t next = 0;

    for (uint32_t i = count; i-- > 0;) {
        const uint32_t at = sfb_live_cell_take(&pieces);

        if (at == 0) {
            free_cbf(t, next, count - 1 - i);
            return 0;
        }
        STORE(t->pieces[at].next, next);
        write_piece(&t->pieces[at], cbf + (size_t)i * SFB_LIVE_PIECE_BYTES,
                    size - (size_t)i * SFB_LIVE_PIECE_BYTES);
        next = at;
    }
    return next;
}

/* --- buckets -------------------------------------------------------------------------------------- */

static bool is_vacant(uint64_t bucket)
{
    return bucket == 0 || bucket == GONE;
}

/* A late thread has published a stack that was freed meanwhile. */
static bool is_stale(const struct sfb_live_table *t, uint64_t bucket)
{
    const uint32_t id = sfb_live_bucket_id(bucket);

    return id == 0 || id >= t->stack_room ||
           sfb_live_phase(__atomic_load_n(&t->stacks[id].state, __ATOMIC_ACQUIRE)) ==
               SFB_LIVE_NO_STACK ||
           sfb_live_bucket(__atomic_load_n(&t->stacks[id].hash, __ATOMIC_RELAXED), id) != bucket;
}

static bool make_vacant(const struct sfb_live_table *t, uint64_t *bucket)
{
    uint64_t found = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

    return is_vacant(found) ||
           (is_stale(t, found) && __atomic_compare_exchange_n(bucket, &found, GONE, false,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static bool has_bucket(const struct sfb_live_table *t, uint64_t hash)
{
    uint64_t *window = t->buckets + sfb_live_window(t, hash);

    for (uint32_t i = 0; i < SFB_LIVE_WINDOW; i++)
        if (is_vacant(__atomic_load_n(&window[sfb_live_in_window(hash, i)], __ATOMIC_RELAXED)))
            return true;
    for (uint32_t i = 0; i < SFB_LIVE_WINDOW; i++)
        if (make_vacant(t, &window[i]))
            return true;
    return false;
}

/* @return the stack stored for the hash, ours or another thread's; id 0: no free bucket */
static struct sfb_live_name publish(const struct sfb_live_table *t, uint64_t hash,
                                    struct sfb_live_name name)
{
    uint64_t *window = t->buckets + sfb_live_window(t, hash);

    for (uint32_t i = 0; i < SFB_LIVE_WINDOW; i++) {
        uint64_t *bucket = &window[sfb_live_in_window(hash, i)],
                 found = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
        struct sfb_live_name other;

        if (is_vacant(found) &&
            __atomic_compare_exchange_n(bucket, &found, sfb_live_bucket(hash, name.id), false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            return name;
        if (sfb_live_bucket_finds(t, found, hash, &other))
            return other;
    }
    return (struct sfb_live_name){ 0, 0 };
}

static void unpublish(const struct sfb_live_table *t, uint64_t hash, uint32_t id)
{
    uint64_t *window = t->buckets + sfb_live_window(t, hash);

    for (uint32_t i = 0; i < SFB_LIVE_WINDOW; i++) {
        uint64_t found = sfb_live_bucket(hash, id);

        if (__atomic_compare_exchange_n(&window[sfb_live_in_window(hash, i)], &found, GONE, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
}

bool sfb_live_stacks_are_full(const struct sfb_live_table *t, uint64_t hash)
{
    const struct sfb_live_area stacks = sfb_live_stacks_of(t), pieces = sfb_live_pieces_of(t);

    return sfb_live_cells_left(&stacks) == 0 || sfb_live_cells_left(&pieces) == 0 ||
           !has_bucket(t, hash);
}

/* --- stacks --------------------------------------------------------------------------------------- */

static struct sfb_live_name write_stack(const struct sfb_live_table *t, uint32_t id, uint64_t hash,
                                        uint32_t list, uint32_t first, size_t size)
{
    struct sfb_live_stack *stack = &t->stacks[id];
    const uint32_t before = __atomic_load_n(&stack->state, __ATOMIC_RELAXED),
                   state = sfb_live_generation(before) << 2 | SFB_LIVE_STACK;

    STORE(stack->hash, hash);
    STORE(stack->next, first);
    STORE(stack->cbf_size, (uint16_t)size);
    STORE(stack->list, (uint16_t)list);
    STORE(stack->overruns, 0);
    __atomic_store_n(&stack->state, state, __ATOMIC_RELEASE);
    return (struct sfb_live_name){ id, state };
}

/* Frees the cells of a stack that nothing names. */
static void release(const struct sfb_live_table *t, uint32_t id)
{
    const struct sfb_live_area stacks = sfb_live_stacks_of(t);
    const struct sfb_live_stack *stack = &t->stacks[id];

    free_cbf(t, __atomic_load_n(&stack->next, __ATOMIC_RELAXED),
             sfb_live_pieces(__atomic_load_n(&stack->cbf_size, __ATOMIC_RELAXED)));
    sfb_live_cells_give(&stacks, id, id, 1);
}

static uint32_t next_generation(uint32_t state)
{
    return (sfb_live_generation(state) + 1) << 2 | SFB_LIVE_NO_STACK;
}

/* Frees a stack that this thread has written, unless a walk has freed it already. */
static void retract(const struct sfb_live_table *t, struct sfb_live_name name)
{
    uint32_t *at = &t->stacks[name.id].state, state = __atomic_load_n(at, __ATOMIC_ACQUIRE);

    do {
        if (sfb_live_generation(state) != sfb_live_generation(name.state))
            return;
    } while (!__atomic_compare_exchange_n(at, &state, next_generation(state), false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    release(t, name.id);
}

struct sfb_live_name sfb_live_stack_add(const struct sfb_live_table *t, uint64_t hash,
                                        uint32_t list, const void *cbf, size_t size)
{
    const struct sfb_live_area stacks = sfb_live_stacks_of(t);
    struct sfb_live_name own = { 0, 0 }, name;
    uint32_t id, first;

    if (size == 0 || size > SFB_LIVE_CBF_MAX || !has_bucket(t, hash) ||
        (id = sfb_live_cell_take(&stacks)) == 0)
        return own;
    first = store_cbf(t, cbf, size);
    if (first == 0) {
        sfb_live_cells_give(&stacks, id, id, 1);
        return own;
    }
    own = write_stack(t, id, hash, list, first, size);
    name = publish(t, hash, own);
    if (name.id != own.id)
        retract(t, own);
    return name;
}

bool sfb_live_stack_rescue(const struct sfb_live_table *t, struct sfb_live_name name)
{
    uint32_t *at = &t->stacks[name.id].state, state = __atomic_load_n(at, __ATOMIC_SEQ_CST);

    do {
        if (sfb_live_generation(state) != sfb_live_generation(name.state) ||
            sfb_live_phase(state) == SFB_LIVE_NO_STACK)
            return false;
        if (sfb_live_phase(state) == SFB_LIVE_STACK)
            return true;
    } while (!__atomic_compare_exchange_n(at, &state,
                                          sfb_live_generation(state) << 2 | SFB_LIVE_STACK, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return true;
}

bool sfb_live_stack_free(const struct sfb_live_table *t, uint32_t id, uint32_t state)
{
    struct sfb_live_stack *stack = &t->stacks[id];

    if (!__atomic_compare_exchange_n(&stack->state, &state, next_generation(state), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return false;
    unpublish(t, __atomic_load_n(&stack->hash, __ATOMIC_RELAXED), id);
    release(t, id);
    return true;
}

void sfb_live_stack_overrun(const struct sfb_live_table *t, uint32_t id)
{
    if (id > 0 && id < t->stack_room &&
        id < __atomic_load_n(&t->map->stacks.used, __ATOMIC_RELAXED))
        __atomic_fetch_add(&t->stacks[id].overruns, 1, __ATOMIC_RELAXED);
}
