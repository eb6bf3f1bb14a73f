#include "record/live/live.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/clocks.h"
#include "record/live/lists.h"
#include "record/live/map.h"
#include "record/live/stacks.h"
#include "record/live/table.h"
#include "record/live/walk.h"
#include "recorder/live_sum.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
    CHILD_BLOCKS = 64, /* a child that executes a program allocates less, and needs no table */
    UNSAMPLED_MAX = 256,
    KEYS_IN_THREAD = 32,
    ROUNDS = 3,            /* of four */
    SWEEP_SLOTS = 1 << 19, /* of a table that is looked at as a whole: 8 MiB */
    NEAR_SLOTS = 1 << 16
};

#define SWEEP_FREE_NS ((uint64_t)20000000)
#define SWEEP_SHARE   100

static struct {
    struct sfb_live_how how;
    uint32_t epoch;        /* of the last table, of ancestors, too */
    uint32_t busy;         /* somebody makes a table, or drops it */
    uint32_t child_blocks; /* that a child has allocated so far */
    uint64_t swept_ns, since;
} own;

static __thread struct sfb_live_thread thread __attribute__((tls_model("initial-exec")));

bool sfb_live_is_on(void)
{
    return sfb_live_epoch() != 0;
}

/* --- threads end ---------------------------------------------------------------------------------- */

static pthread_key_t key;
static bool has_key;

/* Destructors of others still free, and the C library itself does: so the last round but one. */
static void on_end(void *value)
{
    struct sfb_live_thread *t = value;

    if (t == &thread && ++t->rounds < ROUNDS && pthread_setspecific(key, t) == 0)
        return;
    sfb_live_thread_end();
}

static void watch_end(struct sfb_live_thread *t)
{
    /* The first keys have their place in the thread; others would be allocated. */
    if (has_key && key < KEYS_IN_THREAD)
        pthread_setspecific(key, t);
}

/* --- a table begins and ends ---------------------------------------------------------------------- */

/* A word that a child of fork() finds to be 0, however it was forked. */
static bool make_here(void)
{
    void *at;

    if (own.epoch > 0)
        return true;
    at = mmap(NULL, SFB_LIVE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    madvise(at, SFB_LIVE_PAGE, MADV_WIPEONFORK); /* before Linux 4.14 fork()'s handler does it */
    has_key = pthread_key_create(&key, on_end) == 0;
    __atomic_store_n(&sfb_live_here, at, __ATOMIC_RELAXED);
    return true;
}

static bool begin(const struct sfb_live_how *how)
{
    struct sfb_live *map;

    __atomic_store_n(&sfb_live_here->started, 1, __ATOMIC_RELAXED);
    map = sfb_live_map_make(how->size, !how->no_file);
    if (!map)
        return false;
    sfb_live_table_use(map);
    sfb_live_lists_begin();
    __atomic_store_n(&own.swept_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&own.since, sfb_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&sfb_live_here->epoch, ++own.epoch, __ATOMIC_RELEASE);
    return true;
}

/* Whether a child of fork() is to have a table of its own, and has none yet. */
static bool inherits(void)
{
    return __atomic_load_n(&own.how.size, __ATOMIC_RELAXED) != 0 &&
           __atomic_load_n(&sfb_live_here->started, __ATOMIC_RELAXED) == 0;
}

static bool try_to_own(void)
{
    uint32_t expected = 0;

    return __atomic_compare_exchange_n(&own.busy, &expected, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

bool sfb_live_start(const struct sfb_live_how *how)
{
    bool begun = false;

    errno = EBUSY;
    if (!try_to_own())
        return false;
    if (!sfb_live_is_on() && make_here() && begin(how)) {
        own.how.no_file = how->no_file;
        own.how.no_children = how->no_children;
        __atomic_store_n(&own.how.size, how->size, __ATOMIC_RELAXED);
        begun = true;
    }
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
    return begun;
}

void sfb_live_stop(void)
{
    if (!try_to_own())
        return;
    if (sfb_live_is_on()) {
        __atomic_store_n(&own.how.size, 0, __ATOMIC_RELAXED); /* for its children, too */
        __atomic_store_n(&sfb_live_here->epoch, 0, __ATOMIC_RELEASE);
        sfb_live_map_drop();
    }
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
}

void sfb_live_end(void)
{
    struct sfb_live_table table;

    if (sfb_live_table_now(&table) == 0 || table.map->pid != (uint32_t)getpid())
        return;
    __atomic_fetch_or(&table.map->flags, SFB_LIVE_ENDED, __ATOMIC_RELAXED);
    sfb_live_map_unlink();
}

void sfb_live_continue_in_child(void)
{
    sfb_live_here->epoch = sfb_live_here->started = 0;
    sfb_live_map_leave();
    own.busy = 0; /* another thread may have been at it, and is not here */
    own.child_blocks = 0;
}

/* --- threads -------------------------------------------------------------------------------------- */

/* The table that a child of fork() has of its own. */
static void begin_inherited(void)
{
    const int saved = errno;

    if (!inherits() || __atomic_add_fetch(&own.child_blocks, 1, __ATOMIC_RELAXED) < CHILD_BLOCKS ||
        !try_to_own())
        return;
    if (inherits() && (own.how.no_children || !begin(&own.how)))
        __atomic_store_n(&own.how.size, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
    errno = saved;
}

/* The table is another one than that of its lists. In a child it may have to begin. @return false: there is none */
static bool come_to(struct sfb_live_thread *t, bool allocates)
{
    struct sfb_live_table table;
    uint32_t epoch;

    if (allocates && !sfb_live_is_on())
        begin_inherited();
    epoch = sfb_live_table_now(&table);
    if (epoch == 0)
        return false;
    t->table = table;
    t->head = t->spare = t->count = t->level = 0;
    t->until = -1;
    if (t->random == 0)
        t->random = sfb_now() ^ (uint64_t)(uintptr_t)t;
    if (t->epoch == 0 && !t->ended)
        watch_end(t);
    t->epoch = epoch;
    return true;
}

static inline bool is_here(struct sfb_live_thread *t, bool allocates)
{
    return __builtin_expect(t->epoch != 0 && t->epoch == sfb_live_epoch(), 1) ||
           come_to(t, allocates);
}

void sfb_live_thread_end(void)
{
    struct sfb_live_thread *t = &thread;

    if (t->epoch != 0 && is_here(t, false))
        sfb_live_table_give_back(t);
    t->ended = true;
    sfb_live_walk_free(t->walk);
    t->walk = NULL;
}

/* --- tails ---------------------------------------------------------------------------------------- */

static uint32_t tail_of(const void *p, size_t usable)
{
    uint32_t tail;

    memcpy(&tail, (const char *)p + usable - SFB_LIVE_TAIL, sizeof tail);
    return tail;
}

static void set_tail(void *p, size_t usable, uint32_t tail)
{
    memcpy((char *)p + usable - SFB_LIVE_TAIL, &tail, sizeof tail);
}

/* @return the slot of a block; 0: its tail leads to none */
static inline uint32_t slot_of(const struct sfb_live_table *table, const void *p, size_t usable)
{
    uint32_t tail;
    uint64_t block;

    if (usable < SFB_LIVE_TAIL)
        return 0;
    tail = tail_of(p, usable);
    /* Those behind have no memory yet: where the file system is full, to look at one would end the process. */
    if (tail >= __atomic_load_n(&table->map->slots_used, __ATOMIC_RELAXED))
        return 0;
    block = __atomic_load_n(&table->slots[tail].block, __ATOMIC_RELAXED);
    return sfb_live_is_block(block) && sfb_live_address(block) == (uintptr_t)p ? tail : 0;
}

/* One that got no slot. */
static bool is_marked(const void *p, size_t usable)
{
    return usable >= SFB_LIVE_TAIL && tail_of(p, usable) == sfb_live_mark((uintptr_t)p);
}

/* --- blocks that are not known -------------------------------------------------------------------- */

static uint32_t sweep(const struct sfb_live_table *table, const void *p, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const uint64_t block = __atomic_load_n(&table->slots[i].block, __ATOMIC_RELAXED);

        if (sfb_live_address(block) == (uintptr_t)p && sfb_live_is_block(block))
            return i;
    }
    return 0;
}

/*
 * The slot that has the address of a block whose tail leads to none. A free() has a bound: of a large table only those
 * slots are looked at whose numbers the tail had if up to two bytes of it were overwritten, from its first on.
 *
 * @param all  written: whether there is none, if none is found
 */
static uint32_t look_for(const struct sfb_live_table *table, const void *p, size_t usable,
                         bool *all)
{
    const uint32_t used = __atomic_load_n(&table->map->slots_used, __ATOMIC_RELAXED);
    uint32_t near;

    *all = used <= SWEEP_SLOTS;
    if (*all)
        return sweep(table, p, 1, used);
    near = usable >= SFB_LIVE_TAIL ? tail_of(p, usable) & ~(uint32_t)(NEAR_SLOTS - 1) : used;
    if (near >= used)
        return 0;
    return sweep(table, p, near, used - near > NEAR_SLOTS ? near + NEAR_SLOTS : used);
}

/*
 * It is foreign, or its tail is overwritten: then a slot still has its address. To look for it takes up to half a
 * millisecond, so that it is done for a hundredth of the time at most.
 *
 * @return its slot; 0: it has none, or it was not found out
 */
static uint32_t find_unknown(const struct sfb_live_table *table, const void *p, size_t usable)
{
    const uint64_t now = sfb_now();
    struct sfb_live_counts *counts = &table->map->counts;
    uint32_t slot;
    bool all;

    if (__atomic_load_n(&own.swept_ns, __ATOMIC_RELAXED) >
        SWEEP_FREE_NS + (now - __atomic_load_n(&own.since, __ATOMIC_RELAXED)) / SWEEP_SHARE) {
        sfb_live_count_up(&counts->untold, 1);
        return 0;
    }
    slot = look_for(table, p, usable, &all);
    sfb_live_count_up(&own.swept_ns, sfb_now() - now);
    if (slot == 0) {
        sfb_live_count_up(all ? &counts->foreign : &counts->untold, 1);
        return 0;
    }
    sfb_live_count_up(&counts->overruns, 1);
    sfb_live_stack_overrun(
        table, sfb_live_stack_of(__atomic_load_n(&table->slots[slot].what, __ATOMIC_RELAXED)));
    return slot;
}

/* --- the hooks ------------------------------------------------------------------------------------ */

static uint64_t random_of(struct sfb_live_thread *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return t->random;
}

/* Per byte and without memory: a block of s bytes is taken with 1 - exp(-(s + 1) / rate). */
static bool is_sampled(struct sfb_live_thread *t, size_t size)
{
    if (t->until < 0)
        t->until = sfb_live_gap(random_of(t)) * (double)SFB_LIVE_RATE(t->level);
    t->until -= (double)size + 1;
    return t->until < 0;
}

static void leave_out(struct sfb_live_thread *t, void *p, size_t usable)
{
    set_tail(p, usable, sfb_live_mark((uintptr_t)p));
    if (++t->unsampled < UNSAMPLED_MAX)
        return;
    sfb_live_count_up(&t->table.map->counts.unsampled, t->unsampled);
    t->unsampled = 0;
}

/* An allocator that does not know its own block: tcmalloc says 0 of its first ones. It has no tail. */
static void no_room(struct sfb_live_thread *t)
{
    if (is_here(t, true))
        sfb_live_count_up(&t->table.map->counts.no_slot, 1);
}

static void no_slot(struct sfb_live_thread *t, void *p, size_t usable)
{
    set_tail(p, usable, sfb_live_mark((uintptr_t)p));
    sfb_live_count_up(&t->table.map->counts.no_slot, 1);
}

void sfb_live_allocated(void *p, size_t size, size_t usable, const struct sfb_regs *caller)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot, stack;

    if (__builtin_expect(usable < size + SFB_LIVE_TAIL, 0)) {
        no_room(t);
        return;
    }
    if (!is_here(t, true)) {
        set_tail(p, usable, sfb_live_mark((uintptr_t)p));
        return;
    }
    if (t->level > 0 && !is_sampled(t, size)) {
        leave_out(t, p, usable);
        return;
    }
    if (t->ended || (uintptr_t)p >> SFB_LIVE_BLOCK_BITS != 0 || (uintptr_t)p & 1 ||
        (slot = sfb_live_table_take(t)) == 0) {
        no_slot(t, p, usable);
        return;
    }
    stack = sfb_live_walk(t, caller);
    set_tail(p, usable, slot);
    __atomic_store_n(&t->table.slots[slot].what, sfb_live_what(stack, t->level, size),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&t->table.slots[slot].block,
                     (uintptr_t)p | (uint64_t)sfb_live_slack(size, usable) << SFB_LIVE_BLOCK_BITS,
                     __ATOMIC_RELEASE);
}

void sfb_live_freed(void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot;

    if (!is_here(t, false))
        return;
    slot = slot_of(&t->table, p, usable);
    if (__builtin_expect(slot == 0, 0)) {
        if (is_marked(p, usable))
            return;
        slot = find_unknown(&t->table, p, usable);
        if (slot == 0)
            return;
    }
    sfb_live_table_give(t, slot);
}

size_t sfb_live_usable(const void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;

    return is_here(t, false) && (slot_of(&t->table, p, usable) != 0 || is_marked(p, usable))
               ? usable - SFB_LIVE_TAIL
               : usable;
}

void sfb_live_moving(struct sfb_live_move *out, void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint64_t *block;

    *out = (struct sfb_live_move){ 0 };
    if (!is_here(t, false))
        return;
    out->epoch = t->epoch;
    out->slot = slot_of(&t->table, p, usable);
    if (out->slot == 0 && !is_marked(p, usable))
        out->slot = find_unknown(&t->table, p, usable);
    if (out->slot == 0)
        return;
    block = &t->table.slots[out->slot].block;
    out->block = __atomic_load_n(block, __ATOMIC_RELAXED);
    __atomic_store_n(block, 1, __ATOMIC_RELEASE);
}

/* Whether the table is still the one that the slot is of. */
static bool is_of_now(const struct sfb_live_move *move)
{
    return move->slot != 0 && is_here(&thread, false) && thread.epoch == move->epoch;
}

void sfb_live_stayed(const struct sfb_live_move *move)
{
    if (is_of_now(move))
        __atomic_store_n(&thread.table.slots[move->slot].block, move->block, __ATOMIC_RELEASE);
}

void sfb_live_moved(const struct sfb_live_move *move)
{
    if (is_of_now(move))
        sfb_live_table_give(&thread, move->slot);
}
