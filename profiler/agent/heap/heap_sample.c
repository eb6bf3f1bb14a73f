#include "profiler/agent/heap/heap_sample.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/heap/heap.h"
#include "profiler/agent/random.h"

enum {
    FILTER = 1 << (64 - SFB_HEAP_FILTER_SHIFT),
    SECOND = 1 << (64 - SFB_HEAP_SECOND_SHIFT),
    FILTER_MOST = UINT8_MAX, /* saturated for good: the true count is unknown */
    TABLE_BITS = 20,
    TABLE = 1 << TABLE_BITS,
    STEPS = 64
};

/* Entries of the table that are no pointer: never used, and freed. */
enum { NEVER = 0, AGAIN = 1 };

#define FACTOR 0x9e3779b97f4a7c15u /* odd; its top bits mix all bits of a pointer */

static uint8_t all = 1, none;
struct sfb_heap_filter sfb_heap_filter = { &all, &all, 0 };

static uint64_t *table;
static uint64_t seed; /* 0: random, from the system */

void sfb_heap_pass_all(void)
{
    if (sfb_heap_has_used_pool())
        return;
    __atomic_store_n(&sfb_heap_filter.count, &none, __ATOMIC_RELEASE);
}

void sfb_heap_look_at_all(void)
{
    __atomic_store_n(&sfb_heap_filter.count, &all, __ATOMIC_RELEASE);
}

size_t sfb_heap_samples_size(void)
{
    return FILTER + SECOND + TABLE * sizeof *table;
}

bool sfb_heap_samples_prepare(void)
{
    const size_t size = sfb_heap_samples_size();
    const char *given = getenv("SFB_HEAP_SEED");
    uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return false;
    madvise(at, size, MADV_DONTDUMP);
    table = (uint64_t *)(void *)(at + FILTER + SECOND);
    seed = given ? strtoull(given, NULL, 10) : 0;
    if (sfb_heap_has_used_pool())
        return true; /* the pool's blocks: every free() takes the slow path */
    sfb_heap_filter.count = at;
    sfb_heap_filter.second = at + FILTER;
    sfb_heap_filter.factor = FACTOR;
    return true;
}

void sfb_heap_samples_forget(void)
{
    madvise((uint8_t *)table - FILTER - SECOND, sfb_heap_samples_size(), MADV_DONTNEED);
}

/* --- gaps ---------------------------------------------------------------------------------------- */

/* Each thread gets a state of its own, also if a seed was given. */
static uint64_t new_state(void)
{
    static uint64_t threads;
    uint64_t state = seed;

    if (seed == 0 &&
        syscall(SYS_getrandom, &state, sizeof state, GRND_NONBLOCK) != (long)sizeof state)
        state = sfb_now() ^ (uint64_t)syscall(SYS_gettid) << 32;
    state += __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) * 0xd1342543de82ef95u;
    return state + (state == 0);
}

uint64_t sfb_heap_next_gap(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    double gap;

    if (local->random == 0)
        local->random = new_state();
    gap = sfb_minus_log(sfb_random_next(&local->random)) * (double)sfb_heap.rate;
    return gap < (double)(INT64_MAX / 2) ? (uint64_t)gap : INT64_MAX / 2;
}

/* --- the table of samples ------------------------------------------------------------------------ */

static void count_in(uint8_t *at, int change)
{
    uint8_t before = __atomic_load_n(at, __ATOMIC_RELAXED);

    while (before != FILTER_MOST &&
           !__atomic_compare_exchange_n(at, &before, (uint8_t)(before + change), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void count(const void *block, int change)
{
    const uint64_t hash = (uintptr_t)block * sfb_heap_filter.factor;

    if (sfb_heap_filter.factor == 0)
        return;
    count_in(&sfb_heap_filter.second[hash >> SFB_HEAP_SECOND_SHIFT], change);
    count_in(&sfb_heap_filter.count[hash >> SFB_HEAP_FILTER_SHIFT], change);
}

static uint64_t *place(const void *block, unsigned step)
{
    const size_t home = (size_t)((uintptr_t)block * FACTOR >> (64 - TABLE_BITS));

    return &table[(home + step) % TABLE];
}

bool sfb_heap_sample_add(const void *block)
{
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t *at = place(block, i), found = __atomic_load_n(at, __ATOMIC_RELAXED);

        if (found > AGAIN || !__atomic_compare_exchange_n(at, &found, (uintptr_t)block, false,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        count(block, 1);
        return true;
    }
    return false;
}

bool sfb_heap_sample_take(const void *block)
{
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t *at = place(block, i), found = __atomic_load_n(at, __ATOMIC_RELAXED);

        if (found == NEVER)
            return false;
        if (found != (uintptr_t)block)
            continue;
        count(block, -1);
        __atomic_store_n(at, AGAIN, __ATOMIC_RELAXED);
        return true;
    }
    return false;
}
