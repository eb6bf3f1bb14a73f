#include "profiler/agent/live/live.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/live/beside.h"
#include "profiler/agent/live/exit_report.h"
#include "profiler/agent/live/lists.h"
#include "profiler/agent/live/live_stacks.h"
#include "profiler/agent/live/map.h"
#include "profiler/agent/live/reclaim.h"
#include "profiler/agent/live/table.h"
#include "profiler/agent/live/tail_word.h"
#include "profiler/agent/live/unknown.h"
#include "profiler/agent/live/walk.h"
#include "profiler/agent/random.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
    CHILD_BLOCKS = 64, /* a child allocates fewer before it calls exec, and needs no table */
    UNSAMPLED_MAX = 256,
    KEYS_IN_THREAD = 32,
    ROUNDS = 3,    /* of the C library's four */
    NAME_TRIES = 3 /* then the block is recorded without a stack */
};

static struct {
    struct sfb_live_how how;
    uint32_t epoch;        /* of the last table, also of an ancestor's */
    uint32_t busy;         /* a thread begins or stops a table */
    uint32_t child_blocks; /* allocations of a child without a table */
} own;

size_t sfb_live_large = SFB_LIVE_LARGE;
bool sfb_live_reads_fresh;

static __thread struct sfb_live_thread thread __attribute__((tls_model("initial-exec")));

bool sfb_live_is_on(void)
{
    return sfb_live_epoch() != 0;
}

/* --- thread exit ---------------------------------------------------------------------------------- */

static pthread_key_t key;
static bool has_key;

/* Other destructors, and the C library itself, still free: waits for the last round but one. */
static void on_end(void *value)
{
    struct sfb_live_thread *t = value;

    if (t == &thread && ++t->rounds < ROUNDS && pthread_setspecific(key, t) == 0)
        return;
    sfb_live_thread_end();
}

static void watch_end(struct sfb_live_thread *t)
{
    /* Values of the first keys are stored in the thread itself; later ones would be allocated. */
    if (has_key && key < KEYS_IN_THREAD)
        pthread_setspecific(key, t);
}

/* --- a table begins and ends ---------------------------------------------------------------------- */

/* Maps the words that are zeroed in a child, whatever kind of fork made it. */
static bool make_here(void)
{
    void *at;

    if (own.epoch > 0)
        return true;
    at = mmap(NULL, SFB_LIVE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    madvise(at, SFB_LIVE_PAGE, MADV_WIPEONFORK); /* before Linux 4.14: fork()'s handler does */
    has_key = pthread_key_create(&key, on_end) == 0;
    __atomic_store_n(&sfb_live_here, at, __ATOMIC_RELAXED);
    return true;
}

/* @return elements of the ring of freed blocks: a power of two */
static uint32_t ring_of(const struct sfb_live_how *how)
{
    const uint64_t most = how->size / 8 / sizeof(struct sfb_live_freed),
                   wanted = how->freed < most ? how->freed : most;
    uint32_t room = 1;

    while (2 * (uint64_t)room <= wanted && room < SFB_LIVE_FREED_MAX)
        room *= 2;
    return wanted > 0 ? room : 0;
}

static bool begin(const struct sfb_live_how *how)
{
    struct sfb_live *map;

    __atomic_store_n(&sfb_live_here->started, 1, __ATOMIC_RELAXED);
    map = sfb_live_map_make(how->size, ring_of(how), !how->no_file);
    if (!map)
        return false;
    sfb_live_unknown_begin(map);
    sfb_live_table_use(map, sfb_live_reclaim_begin());
    sfb_live_lists_begin();
    __atomic_store_n(&sfb_live_here->epoch, ++own.epoch, __ATOMIC_RELEASE);
    return true;
}

/* Whether this child of fork() should begin a table of its own. */
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
        own.how.freed = how->freed;
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
        __atomic_store_n(&own.how.size, 0, __ATOMIC_RELAXED); /* its children inherit none */
        __atomic_store_n(&sfb_live_here->epoch, 0, __ATOMIC_RELEASE);
        sfb_live_map_drop();
    }
    __atomic_store_n(&own.busy, 0, __ATOMIC_RELEASE);
}

void sfb_live_end(void)
{
    struct sfb_live_table table;

    if (sfb_live_table_now(&table) == 0 || table.map->pid != (uint32_t)getpid() ||
        __atomic_fetch_or(&table.map->flags, SFB_LIVE_ENDED, __ATOMIC_RELAXED) & SFB_LIVE_ENDED)
        return;
    if (__atomic_load_n(&table.map->counts.overruns, __ATOMIC_RELAXED) > 0 ||
        __atomic_load_n(&table.map->headers, __ATOMIC_RELAXED) > 0)
        sfb_live_exit_report(table.map, sfb_live_map_path());
    else
        sfb_live_map_unlink();
}

void sfb_live_leave_user(void)
{
    struct sfb_live_table table;

    if (sfb_live_table_now(&table) != 0 && table.map->pid == (uint32_t)getpid())
        sfb_live_map_unlink();
}

void sfb_live_continue_in_child(void)
{
    sfb_live_here->epoch = sfb_live_here->started = 0;
    sfb_live_map_leave();
    own.busy = 0; /* its holder may be a thread of the parent */
    own.child_blocks = 0;
}

/* --- threads -------------------------------------------------------------------------------------- */

/* Begins the own table of a child of fork(). */
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

/* Switches the thread to the current table. In a child this may begin the table. @return false: no table */
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
    t->buckets_ready = t->beside_ready = 0;
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

/* @return the slot of a block; 0: its tail names another block's slot, or no slot */
static inline uint32_t slot_of(const struct sfb_live_table *table, const void *p, size_t usable)
{
    uint32_t tail;
    uint64_t block;

    if (usable < SFB_LIVE_TAIL)
        return 0;
    tail = sfb_live_tail_of(p, usable);
    /* Later slots may have no memory yet. On a full file system, reading one would end the process. */
    if (tail >= __atomic_load_n(&table->map->slots_used, __ATOMIC_RELAXED))
        return 0;
    block = __atomic_load_n(&table->slots[tail].block, __ATOMIC_RELAXED);
    return sfb_live_is_block(block) && sfb_live_address(block) == (uintptr_t)p ? tail : 0;
}

/* Also of a large block without a tail. The tail comes first: most have one. */
static inline uint32_t any_slot_of(struct sfb_live_thread *t, const void *p, size_t usable)
{
    const uint32_t slot = slot_of(&t->table, p, usable);

    return slot == 0 && usable >= sfb_live_large ? sfb_live_beside_find(t, p) : slot;
}

static void forget_beside(struct sfb_live_thread *t, uint32_t slot, uint64_t block)
{
    if (__builtin_expect(sfb_live_is_beside(block), 0))
        sfb_live_beside_remove(t, sfb_live_address(block), slot);
}

/* A large block has a tail only where the allocator's block has room for it anyway. */
static bool has_room(size_t size, size_t usable)
{
    return size < sfb_live_large || usable - size >= SFB_LIVE_TAIL;
}

/* --- the hooks ------------------------------------------------------------------------------------ */

/* Memoryless, by bytes: a block of s bytes is sampled with the probability 1 - exp(-(s + 1) / rate). */
static bool is_sampled(struct sfb_live_thread *t, size_t size)
{
    if (t->until < 0)
        t->until = sfb_minus_log(sfb_random_next(&t->random)) * (double)SFB_LIVE_RATE(t->level);
    t->until -= (double)size + 1;
    return t->until < 0;
}

static void set_mark(void *p, size_t size, size_t usable)
{
    if (has_room(size, usable))
        sfb_live_set_tail(p, usable, sfb_live_mark((uintptr_t)p));
}

static void leave_out(struct sfb_live_thread *t, void *p, size_t size, size_t usable)
{
    set_mark(p, size, usable);
    if (++t->unsampled < UNSAMPLED_MAX)
        return;
    sfb_live_count_up(&t->table.map->counts.unsampled, t->unsampled);
    t->unsampled = 0;
}

/* The allocator reports too small a usable size (tcmalloc: 0 for its first blocks): no room for a tail. */
static void no_room(struct sfb_live_thread *t)
{
    if (is_here(t, true))
        sfb_live_count_up(&t->table.map->counts.no_slot, 1);
}

static void no_slot(struct sfb_live_thread *t, void *p, size_t size, size_t usable)
{
    set_mark(p, size, usable);
    sfb_live_count_up(&t->table.map->counts.no_slot, 1);
}

/* The allocator gives out memory that has a slot: a library has freed the block past the agent. */
static void take_back(struct sfb_live_thread *t, const void *p, size_t usable)
{
    uint32_t slot = slot_of(&t->table, p, usable);

    if (slot == 0)
        slot = sfb_live_beside_find(t, p); /* the block before may have been large */
    if (slot == 0)
        return;
    if (sfb_live_is_bypassed(
            &t->table)) /* else a handler's call of free(), in the midst of another */
        sfb_live_count_up(&t->table.map->unseen, 1);
    forget_beside(t, slot, __atomic_load_n(&t->table.slots[slot].block, __ATOMIC_RELAXED));
    sfb_live_table_give(t, slot);
}

/* The slot names a stack from here on. Readers see no block in it yet. */
static void hold(struct sfb_live_thread *t, uint32_t number, uint64_t what)
{
    struct sfb_live_slot *slot = &t->table.slots[number];

    __atomic_store_n(&slot->what, what, __ATOMIC_RELEASE);
    if (t->table.fences)
        __atomic_exchange_n(&slot->block, SFB_LIVE_HELD, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&slot->block, SFB_LIVE_HELD, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* before the stack's state is read: reclaim.h */
}

/* Gives the slot the name of a stack, which lasts as long as the slot's block. */
static void name_stack(struct sfb_live_thread *t, uint32_t slot, size_t size,
                       const struct sfb_regs *caller)
{
    const uint32_t era = __atomic_load_n(&t->table.map->era, __ATOMIC_RELAXED);

    for (int i = 0; i < NAME_TRIES; i++) {
        const struct sfb_live_name name = sfb_live_walk(t, caller);

        if (name.id == 0)
            break;
        hold(t, slot, sfb_live_what(sfb_live_name_bits(name), t->level, era, size));
        if (__builtin_expect(sfb_live_stack_keep(&t->table, name), 1))
            return;
    }
    hold(t, slot, sfb_live_what(0, t->level, era, size));
    sfb_live_count_up(&t->table.map->counts.no_stack, 1);
}

/* Gives a large block without a tail its slot. */
static void fill_beside(struct sfb_live_thread *t, uint32_t slot, void *p)
{
    if (!sfb_live_beside_put(t, p, slot)) {
        sfb_live_table_give(t, slot);
        sfb_live_count_up(&t->table.map->counts.no_slot, 1);
        return;
    }
    __atomic_store_n(&t->table.slots[slot].block,
                     (uintptr_t)p | (uint64_t)SFB_LIVE_SLACK_BESIDE << SFB_LIVE_BLOCK_BITS,
                     __ATOMIC_RELEASE);
}

/* The memory has a slot already: its block was freed unseen. */
static void look_back(struct sfb_live_thread *t, const void *p, size_t usable)
{
    if (sfb_live_is_bypassed(&t->table)) {
        take_back(t, p, usable);
    } else if (sfb_live_reads_fresh && __builtin_expect(slot_of(&t->table, p, usable) != 0, 0)) {
        sfb_live_note_unseen(&t->table);
        take_back(t, p, usable);
    }
}

/* The walk comes first: meanwhile the block's end gets into the cache, as far as it may be read. */
void sfb_live_allocated(void *p, size_t size, size_t usable, const struct sfb_regs *caller)
{
    struct sfb_live_thread *t = &thread;
    const bool tailed = has_room(size, usable);
    uint32_t slot;

    if (__builtin_expect(usable < size + (size < sfb_live_large ? SFB_LIVE_TAIL : 0), 0)) {
        no_room(t);
        return;
    }
    if (tailed)
        __builtin_prefetch((char *)p + usable - SFB_LIVE_TAIL, 1);
    if (!is_here(t, true)) {
        set_mark(p, size, usable);
        return;
    }
    if (t->level > 0 && !is_sampled(t, size)) {
        look_back(t, p, usable);
        leave_out(t, p, size, usable);
        return;
    }
    if (t->ended || (uintptr_t)p >> SFB_LIVE_BLOCK_BITS != 0 || (uintptr_t)p & 1 ||
        (slot = sfb_live_table_take(t)) == 0) {
        look_back(t, p, usable);
        no_slot(t, p, size, usable);
        return;
    }
    name_stack(t, slot, size, caller);
    look_back(t, p, usable);
    if (__builtin_expect(!tailed, 0)) {
        fill_beside(t, slot, p);
        return;
    }
    sfb_live_set_tail(p, usable, slot);
    __atomic_store_n(&t->table.slots[slot].block,
                     (uintptr_t)p | (uint64_t)sfb_live_slack(size, usable) << SFB_LIVE_BLOCK_BITS,
                     __ATOMIC_RELEASE);
}

/* Removes the mark of a block that ends: the next block here may have no room for one. @return whether it had one */
static bool take_mark(void *p, size_t usable)
{
    const bool marked = sfb_live_is_marked(p, usable);

    if (marked)
        sfb_live_set_tail(p, usable, 0);
    return marked;
}

/* A large block may have no mark. Once blocks are sampled or without a slot, a foreign large block looks the same. */
static bool may_have_no_slot(const struct sfb_live_thread *t, size_t usable)
{
    const struct sfb_live *map = t->table.map;

    return usable >= sfb_live_large &&
           (__atomic_load_n(&map->level_most, __ATOMIC_RELAXED) > 0 ||
            __atomic_load_n(&map->counts.no_slot, __ATOMIC_RELAXED) > 0);
}

void sfb_live_freed(void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot;

    if (!is_here(t, false))
        return;
    slot = slot_of(&t->table, p, usable);
    if (__builtin_expect(slot != 0, 1)) {
        sfb_live_table_give(t, slot);
        /* The next block here is to look no slot up. A reader that misses the tail finds the slot free. */
        if (sfb_live_reads_fresh)
            sfb_live_set_tail(p, usable, 0);
        return;
    }
    if (take_mark(p, usable))
        return;
    if (usable >= sfb_live_large)
        slot = sfb_live_beside_find(t, p);
    if (slot == 0 && !may_have_no_slot(t, usable))
        slot = sfb_live_find_unknown(&t->table, p, usable);
    if (slot == 0)
        return;
    forget_beside(t, slot, __atomic_load_n(&t->table.slots[slot].block, __ATOMIC_RELAXED));
    sfb_live_table_give(t, slot);
}

/* Whether the slot belongs to the current table. */
static bool is_of_now(const struct sfb_live_move *move)
{
    return move->slot != 0 && is_here(&thread, false) && thread.epoch == move->epoch;
}

/* --- freed blocks --------------------------------------------------------------------------------- */

bool sfb_live_remembers(void)
{
    /* Of the process: a thread that has done nothing yet has no copy of the table. */
    return __builtin_expect(
        __atomic_load_n(&sfb_live_table.freed_room, __ATOMIC_RELAXED) > 0 && sfb_live_is_on(), 0);
}

/* The slot that names the stack still keeps it. */
static uint32_t generation_of(const struct sfb_live_table *table, uint64_t what)
{
    const uint32_t id = sfb_live_stack_of(what);

    return id < table->stack_room
               ? sfb_live_generation(__atomic_load_n(&table->stacks[id].state, __ATOMIC_RELAXED))
               : 0;
}

static void remember(struct sfb_live_thread *t, uint64_t address, uint64_t what,
                     const struct sfb_regs *caller)
{
    const struct sfb_live_name name = sfb_live_walk(t, caller);
    const uint64_t number = __atomic_fetch_add(&t->table.map->freed_next, 1, __ATOMIC_RELAXED);
    struct sfb_live_freed *at = &t->table.freed[number % t->table.freed_room];

    __atomic_store_n(&at->address, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&at->what, what, __ATOMIC_RELEASE);
    __atomic_store_n(&at->by, sfb_live_what(sfb_live_name_bits(name), 0, 0, 0), __ATOMIC_RELEASE);
    __atomic_store_n(&at->generation, generation_of(&t->table, what), __ATOMIC_RELEASE);
    __atomic_store_n(&at->by_generation, sfb_live_generation(name.state), __ATOMIC_RELEASE);
    __atomic_store_n(&at->address, address, __ATOMIC_RELEASE);
}

void sfb_live_remember(void *p, size_t usable, const struct sfb_regs *caller)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot;

    if (!is_here(t, false) || t->table.freed_room == 0 || t->ended)
        return;
    slot = any_slot_of(t, p, usable);
    if (slot > 0)
        remember(t, (uintptr_t)p, __atomic_load_n(&t->table.slots[slot].what, __ATOMIC_RELAXED),
                 caller);
}

void sfb_live_remember_moved(const struct sfb_live_move *move, const struct sfb_regs *caller)
{
    if (is_of_now(move) && thread.table.freed_room > 0 && !thread.ended)
        remember(&thread, sfb_live_address(move->block),
                 __atomic_load_n(&thread.table.slots[move->slot].what, __ATOMIC_RELAXED), caller);
}

size_t sfb_live_usable(const void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint32_t slot;

    if (!is_here(t, false))
        return usable;
    slot = any_slot_of(t, p, usable);
    if (slot ? sfb_live_is_beside(__atomic_load_n(&t->table.slots[slot].block, __ATOMIC_RELAXED))
             : !sfb_live_is_marked(p, usable))
        return usable;
    return usable - SFB_LIVE_TAIL;
}

void sfb_live_moving(struct sfb_live_move *out, void *p, size_t usable)
{
    struct sfb_live_thread *t = &thread;
    uint64_t *block;

    *out = (struct sfb_live_move){ 0 };
    if (!is_here(t, false))
        return;
    out->epoch = t->epoch;
    out->slot = any_slot_of(t, p, usable);
    if (out->slot == 0 && take_mark(p, usable)) {
        out->marked = p;
        out->usable = usable;
        return;
    }
    if (out->slot == 0 && !may_have_no_slot(t, usable))
        out->slot = sfb_live_find_unknown(&t->table, p, usable);
    if (out->slot == 0)
        return;
    block = &t->table.slots[out->slot].block;
    out->block = __atomic_load_n(block, __ATOMIC_RELAXED);
    __atomic_store_n(block, SFB_LIVE_HELD, __ATOMIC_RELEASE);
}

void sfb_live_stayed(const struct sfb_live_move *move)
{
    if (move->marked)
        sfb_live_set_tail(move->marked, move->usable, sfb_live_mark((uintptr_t)move->marked));
    if (is_of_now(move))
        __atomic_store_n(&thread.table.slots[move->slot].block, move->block, __ATOMIC_RELEASE);
}

void sfb_live_moved(const struct sfb_live_move *move)
{
    if (!is_of_now(move))
        return;
    forget_beside(&thread, move->slot, move->block);
    sfb_live_table_give(&thread, move->slot);
}
