#include "profiler/agent/space.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct sfb_space sfb_space;

enum { PAUSE_NS = 100000 };

static const struct sfb_space_range all_slots = { 0, SFB_SHARED_PROCESS_MAX },
                                    all_rings = { 0, SFB_SHARED_RING_MAX };

static uintptr_t page(void)
{
    return (uintptr_t)getauxval(AT_PAGESZ);
}

static void set_windows(struct sfb_space_range slots, struct sfb_space_range rings)
{
    __atomic_store_n(&sfb_agent.process_first, slots.first, __ATOMIC_RELAXED);
    __atomic_store_n(&sfb_agent.process_end, slots.end, __ATOMIC_RELAXED);
    __atomic_store_n(&sfb_agent.ring_first, rings.first, __ATOMIC_RELAXED);
    __atomic_store_n(&sfb_agent.ring_end, rings.end, __ATOMIC_SEQ_CST);
}

/* If the threads' own parts are mapped already, there may be fewer of them. */
void sfb_space_whole(struct sfb_shared *shared, bool shrinks)
{
    sfb_agent.process_base = sfb_agent.ring_base = (uintptr_t)shared;
    sfb_space.slots = all_slots;
    if (!sfb_space.threads)
        sfb_space.rings = all_rings;
    sfb_space.shrinks = shrinks;
    set_windows(sfb_space.slots, sfb_space.rings);
}

void sfb_space_clear_threads(void)
{
    const uintptr_t at = sfb_space.threads,
                    from = at + sfb_space.rings.first * sfb_space.kind->thread_size,
                    to = at + sfb_space.rings.end * sfb_space.kind->thread_size,
                    start = from & ~(page() - 1);

    syscall(SYS_madvise, start, to - start, MADV_DONTNEED);
    sfb_space.at_it = 0; /* its holder may be a thread of the parent */
}

bool sfb_space_fit(uint32_t *slots, uint32_t *rings, uint64_t limit, uint32_t ring_bytes,
                   const struct sfb_shared *shared)
{
    const struct sfb_space_kind *kind = sfb_space.kind;
    const uint64_t slot = sizeof(struct sfb_shared_process),
                   ring = sfb_shared_ring_stride(ring_bytes) + kind->thread_size,
                   tables = kind->tables ? kind->tables(shared) : 0,
                   share = limit / SFB_SPACE_SHARE,
                   room = share > tables + SFB_SHARED_PAGE ? share - tables - SFB_SHARED_PAGE : 0;
    uint64_t most_slots = room / 4 / slot, most_rings;

    if (most_slots < 1)
        most_slots = 1;
    if (most_slots > SFB_SHARED_PROCESS_MAX ||
        room >= slot * SFB_SHARED_PROCESS_MAX + ring * SFB_SHARED_RING_MAX)
        most_slots = SFB_SHARED_PROCESS_MAX;
    most_rings = room > most_slots * slot ? (room - most_slots * slot) / ring : 0;
    *slots = (uint32_t)most_slots;
    *rings = most_rings < SFB_SHARED_RING_MAX ? (uint32_t)most_rings : SFB_SHARED_RING_MAX;
    return *rings > 0;
}

/* --- giving back --------------------------------------------------------------------------------- */

/* Whole pages only: their neighbours may be in use. */
static void give_back(uintptr_t from, uintptr_t to)
{
    from = (from + page() - 1) & ~(page() - 1);
    to &= ~(page() - 1);
    if (from < to)
        syscall(SYS_munmap, from, to - from);
}

/* Elements of `size` bytes; element 0 is at `base`. */
static void give_back_around(uintptr_t base, size_t size, struct sfb_space_range mapped,
                             struct sfb_space_range kept)
{
    give_back(base + mapped.first * size, base + kept.first * size);
    give_back(base + kept.end * size, base + mapped.end * size);
}

/* A window of `count` elements within `mapped`: at least the used ones and the spare ones. */
static struct sfb_space_range window(struct sfb_space_range mapped, struct sfb_space_range used,
                                     uint32_t count)
{
    const uint32_t least = used.end - used.first + SFB_SPACE_SPARE,
                   most = mapped.end - mapped.first;
    uint32_t first = used.end > 0 ? used.first : mapped.first;

    if (count < least)
        count = least;
    if (count > most)
        count = most;
    if (first > mapped.end - count)
        first = mapped.end - count;
    return (struct sfb_space_range){ first, first + count };
}

static struct sfb_space_range join(struct sfb_space_range a, struct sfb_space_range b)
{
    if (b.first >= b.end)
        return a;
    return (struct sfb_space_range){ a.first < b.first ? a.first : b.first,
                                     a.end > b.end ? a.end : b.end };
}

static bool is_same(struct sfb_space_range a, struct sfb_space_range b)
{
    return a.first == b.first && a.end == b.end;
}

static void shrink(uint64_t limit)
{
    struct sfb_space *s = &sfb_space;
    const struct sfb_space_range mapped_slots = s->slots, mapped_rings = s->rings,
                                 own = { sfb_agent.slot, sfb_agent.slot + 1 };
    struct sfb_space_range slots, rings;
    uint32_t slot_count, ring_count;

    (void)sfb_space_fit(&slot_count, &ring_count, limit, sfb_agent.ring_bytes, sfb_agent_shared());
    slots = window(mapped_slots, own, slot_count);
    rings = window(mapped_rings, s->kind->used(mapped_rings), ring_count);
    if (is_same(slots, mapped_slots) && is_same(rings, mapped_rings))
        return;
    set_windows(slots, rings);
    /* Threads that entered before set_windows() may still use the rest. */
    if (!sfb_agent_wait_for_others(PAUSE_NS))
        return;
    rings = join(rings, s->kind->used(mapped_rings)); /* a ring taken meanwhile */
    set_windows(slots, rings);
    s->slots = slots; /* first: a fork() may happen now, and the child trusts these */
    s->rings = rings;
    give_back_around(sfb_agent.process_base + SFB_SHARED_PROCESSES_AT,
                     sizeof(struct sfb_shared_process), mapped_slots, slots);
    give_back_around(sfb_agent.ring_base + SFB_SHARED_RINGS_AT,
                     sfb_shared_ring_stride(sfb_agent.ring_bytes), mapped_rings, rings);
    give_back_around(s->threads, s->kind->thread_size, mapped_rings, rings);
}

void sfb_space_limit_comes(uint64_t limit)
{
    const int before = errno;

    if (limit == RLIM_INFINITY || !sfb_agent_is_here() || !sfb_space.shrinks ||
        __atomic_exchange_n(&sfb_space.at_it, 1, __ATOMIC_ACQUIRE))
        return;
    shrink(limit);
    __atomic_store_n(&sfb_space.at_it, 0, __ATOMIC_RELEASE);
    errno = before;
}
