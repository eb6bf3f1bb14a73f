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
    ROUNDS = 3 /* of four */
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
    return __atomic_load_n(&sfb_live_here->epoch, __ATOMIC_ACQUIRE) != 0;
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
    sfb_live_here = at;
    has_key = pthread_key_create(&key, on_end) == 0;
    return true;
}

static bool begin(void)
{
    struct sfb_live *map = sfb_live_map_make(own.how.size, !own.how.no_file);

    if (!map)
        return false;
    sfb_live_table_use(map);
    sfb_live_lists_begin();
    own.swept_ns = 0;
    own.since = sfb_now();
    __atomic_store_n(&sfb_live_here->epoch, ++own.epoch, __ATOMIC_RELEASE);
    return true;
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
    if (!sfb_live_is_on() && make_here()) {
        own.how = *how;
        begun = begin();
    }
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
    return begun;
}

void sfb_live_stop(void)
{
    if (!try_to_own())
        return;
    if (sfb_live_is_on()) {
        own.how.size = 0; /* for its children, too */
        __atomic_store_n(&sfb_live_here->epoch, 0, __ATOMIC_RELEASE);
        sfb_live_map_drop(sfb_live_table.map);
    }
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
}

void sfb_live_end(void)
{
    if (!sfb_live_is_on() || sfb_live_table.map->pid != (uint32_t)getpid())
        return;
    __atomic_fetch_or(&sfb_live_table.map->flags, SFB_LIVE_ENDED, __ATOMIC_RELAXED);
    sfb_live_map_unlink();
}

void sfb_live_continue_in_child(void)
{
    sfb_live_here->epoch = 0;
    own.busy = 0; /* another thread may have been at it, and is not here */
    own.child_blocks = 0;
}

/* --- threads -------------------------------------------------------------------------------------- */

/* The table is another one than that of its lists. In a child it may have to begin. @return false: there is none */
static bool come_to(struct sfb_live_thread *t, bool allocates)
{
    if (!sfb_live_is_on()) {
        const int saved = errno;

        if (!allocates || own.how.size == 0 || own.how.no_children ||
            __atomic_add_fetch(&own.child_blocks, 1, __ATOMIC_RELAXED) < CHILD_BLOCKS ||
            !try_to_own())
            return false;
        if (!sfb_live_is_on() && !begin())
            own.how.size = 0;
        __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
        errno = saved;
        if (!sfb_live_is_on())
            return false;
    }
    t->head = t->spare = t->count = t->level = 0;
    t->until = -1;
    if (t->random == 0)
        t->random = sfb_now() ^ (uint64_t)(uintptr_t)t;
    if (t->epoch == 0 && !t->ended)
        watch_end(t);
    t->epoch = __atomic_load_n(&sfb_live_here->epoch, __ATOMIC_ACQUIRE);
    return t->epoch != 0;
}

static inline bool is_here(struct sfb_live_thread *t, bool allocates)
{
    return __builtin_expect(t->epoch != 0 && t->epoch == __atomic_load_n(&sfb_live_here->epoch,
                                                                         __ATOMIC_ACQUIRE),
                            1) ||
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
static inline uint32_t slot_of(const void *p, size_t usable)
{
    uint32_t tail;
    uint64_t block;

    if (usable < SFB_LIVE_TAIL)
        return 0;
    tail = tail_of(p, usable);
    /* Those behind have no memory yet: where the file system is full, to look at one would end the process. */
    if (tail >= __atomic_load_n(&sfb_live_table.map->slots_used, __ATOMIC_RELAXED))
        return 0;
    block = __atomic_load_n(&sfb_live_table.slots[tail].block, __ATOMIC_RELAXED);
    return sfb_live_is_block(block) && sfb_live_address(block) == (uintptr_t)p ? tail : 0;
}

/* One that got no slot. */
static bool is_marked(const void *p, size_t usable)
{
    return usable >= SFB_LIVE_TAIL && tail_of(p, usable) == sfb_live_mark((uintptr_t)p);
}

/* --- blocks that are not known -------------------------------------------------------------------- */

static uint32_t sweep(const void *p)
{
    const uint32_t used = __atomic_load_n(&sfb_live_table.map->slots_used, __ATOMIC_RELAXED);

    for (uint32_t i = 1; i < used; i++) {
        const uint64_t block = __atomic_load_n(&sfb_live_table.slots[i].block, __ATOMIC_RELAXED);

        if (sfb_live_address(block) == (uintptr_t)p && sfb_live_is_block(block))
            return i;
    }
    return 0;
}

/*
 * It is foreign, or its tail is overwritten: then a slot still has its address. To look at all slots takes a
 * millisecond for each million, so that it is done for a hundredth of the time at most.
 *
 * @return its slot; 0: it has none, or nobody knows
 */
static uint32_t find_unknown(const void *p)
{
    const uint64_t now = sfb_now();
    struct sfb_live_counts *counts = sfb_live_counts();
    uint32_t slot;

    if (__atomic_load_n(&own.swept_ns, __ATOMIC_RELAXED) >
        SWEEP_FREE_NS + (now - own.since) / SWEEP_SHARE) {
        __atomic_fetch_add(&counts->untold, 1, __ATOMIC_RELAXED);
        return 0;
    }
    slot = sweep(p);
    __atomic_fetch_add(&own.swept_ns, sfb_now() - now, __ATOMIC_RELAXED);
    if (slot == 0) {
        __atomic_fetch_add(&counts->foreign, 1, __ATOMIC_RELAXED);
        return 0;
    }
    __atomic_fetch_add(&counts->overruns, 1, __ATOMIC_RELAXED);
    sfb_live_stack_overrun(
        sfb_live_stack_of(__atomic_load_n(&sfb_live_table.slots[slot].what, __ATOMIC_RELAXED)));
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
    __atomic_fetch_add(&sfb_live_counts()->unsampled, t->unsampled, __ATOMIC_RELAXED);
    t->unsampled = 0;
}

/* An allocator that does not know its own block: tcmalloc says 0 of its first ones. It has no tail. */
static void no_room(struct sfb_live_thread *t)
{
    if (is_here(t, true))
        __atomic_fetch_add(&sfb_live_counts()->no_slot, 1, __ATOMIC_RELAXED);
}

static void no_slot(void *p, size_t usable)
{
    set_tail(p, usable, sfb_live_mark((uintptr_t)p));
    __atomic_fetch_add(&sfb_live_counts()->no_slot, 1, __ATOMIC_RELAXED);
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
        no_slot(p, usable);
        return;
    }
    stack = sfb_live_walk(t, caller);
    set_tail(p, usable, slot);
    __atomic_store_n(&sfb_live_table.slots[slot].what, sfb_live_what(stack, t->level, size),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&sfb_live_table.slots[slot].block,
                     (uintptr_t)p | (uint64_t)sfb_live_slack(size, usable) << SFB_LIVE_BLOCK_BITS,
                     __ATOMIC_RELEASE);
}

void sfb_live_freed(void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot;

    if (!is_here(t, false))
        return;
    slot = slot_of(p, usable);
    if (__builtin_expect(slot == 0, 0)) {
        if (is_marked(p, usable))
            return;
        slot = find_unknown(p);
        if (slot == 0)
            return;
    }
    sfb_live_table_give(t, slot);
}

size_t sfb_live_usable(const void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;

    return is_here(t, false) && (slot_of(p, usable) != 0 || is_marked(p, usable))
               ? usable - SFB_LIVE_TAIL
               : usable;
}

void sfb_live_moving(struct sfb_live_move *out, void *p, size_t usable)
{
    *out = (struct sfb_live_move){ 0, 0 };
    if (!is_here(&thread, false))
        return;
    out->slot = slot_of(p, usable);
    if (out->slot == 0 && !is_marked(p, usable))
        out->slot = find_unknown(p);
    if (out->slot == 0)
        return;
    out->block = sfb_live_table.slots[out->slot].block;
    __atomic_store_n(&sfb_live_table.slots[out->slot].block, 1, __ATOMIC_RELEASE);
}

void sfb_live_stayed(const struct sfb_live_move *move)
{
    if (move->slot != 0 && is_here(&thread, false))
        __atomic_store_n(&sfb_live_table.slots[move->slot].block, move->block, __ATOMIC_RELEASE);
}

void sfb_live_moved(const struct sfb_live_move *move)
{
    if (move->slot != 0 && is_here(&thread, false))
        sfb_live_table_give(&thread, move->slot);
}
