#include "profiler/agent/space_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t page_before(size_t at)
{
    return at & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
}

/* @return the address at which offset 0 would be; 0: no memory */
static uintptr_t map_part(int fd, size_t from, size_t to)
{
    const size_t start = page_before(from);
    void *at = mmap(NULL, to - start, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)start);

    if (at == MAP_FAILED)
        return 0;
    madvise(at, to - start, MADV_DONTDUMP); /* else a core dump would hold all of it */
    return (uintptr_t)at - start;
}

static void unmap_part(uintptr_t base, size_t from, size_t to)
{
    const size_t start = page_before(from);

    if (base)
        munmap((uint8_t *)base + start, to - start);
}

static bool read_at(int fd, void *out, size_t size, size_t at)
{
    return pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

/* A range of `count` elements, from the first free one on. */
static struct sfb_space_range from_free(int fd, size_t at, size_t size, uint32_t most,
                                        uint32_t count)
{
    uint32_t first = 0, state;

    while (first < most - count && read_at(fd, &state, sizeof state, at + first * size) &&
           state != SFB_SLOT_FREE)
        first++;
    return (struct sfb_space_range){ first, first + count };
}

/* As sfb_process_was_made_to_ignore(), for slots that are not mapped. */
static bool was_made_to_ignore(int fd)
{
    const uint32_t pid = (uint32_t)getpid();

    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        const size_t at = SFB_SHARED_PROCESSES_AT + i * sizeof(struct sfb_shared_process);
        struct {
            uint32_t state, pid;
        } head;
        uint32_t ignored;

        if (read_at(fd, &head, sizeof head, at) && head.state == SFB_SLOT_LIVE && head.pid == pid &&
            read_at(fd, &ignored, sizeof ignored,
                    at + offsetof(struct sfb_shared_process, prof_ignored)) &&
            ignored)
            return true;
    }
    return false;
}

static bool map_windows(int fd, uint32_t ring_bytes, uint32_t slot_count, uint32_t ring_count)
{
    const size_t slot = sizeof(struct sfb_shared_process),
                 ring = sfb_shared_ring_stride(ring_bytes), slots_at = SFB_SHARED_PROCESSES_AT,
                 rings_at = SFB_SHARED_RINGS_AT;
    const struct sfb_space_range slots = from_free(fd, slots_at, slot, SFB_SHARED_PROCESS_MAX,
                                                   slot_count),
                                 rings =
                                     from_free(fd, rings_at, ring, SFB_SHARED_RING_MAX, ring_count);

    sfb_agent.process_base =
        map_part(fd, slots_at + slots.first * slot, slots_at + slots.end * slot);
    sfb_agent.ring_base = map_part(fd, rings_at + rings.first * ring, rings_at + rings.end * ring);
    if (!sfb_agent.process_base || !sfb_agent.ring_base) {
        unmap_part(sfb_agent.process_base, slots_at + slots.first * slot,
                   slots_at + slots.end * slot);
        unmap_part(sfb_agent.ring_base, rings_at + rings.first * ring, rings_at + rings.end * ring);
        return false;
    }
    sfb_space.slots = slots;
    sfb_space.rings = rings;
    sfb_space.shrinks = true;
    sfb_space.prof_ignored = was_made_to_ignore(fd);
    sfb_agent.process_first = slots.first;
    sfb_agent.process_end = slots.end;
    sfb_agent.ring_first = rings.first;
    sfb_agent.ring_end = rings.end;
    return true;
}

/* @return RLIM_INFINITY: no limit, or enough room for everything */
static uint64_t limit_that_counts(const struct sfb_shared *session, uint32_t ring_bytes)
{
    struct rlimit limit;
    uint32_t slots, rings;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return RLIM_INFINITY;
    sfb_space_fit(&slots, &rings, limit.rlim_cur, ring_bytes, session);
    return slots == SFB_SHARED_PROCESS_MAX && rings == SFB_SHARED_RING_MAX ? RLIM_INFINITY
                                                                           : limit.rlim_cur;
}

static struct sfb_shared *map_all(int fd, uint32_t ring_bytes)
{
    struct sfb_shared *shared = (struct sfb_shared *)map_part(fd, 0, sfb_shared_size(ring_bytes));

    if (shared)
        sfb_space_whole(shared, true);
    return shared;
}

struct sfb_shared *sfb_space_map(int fd, const struct sfb_shared *session, uint32_t ring_bytes)
{
    const uint64_t limit = limit_that_counts(session, ring_bytes);
    struct sfb_shared *header = limit == RLIM_INFINITY ? map_all(fd, ring_bytes) : NULL;
    uint32_t slots, rings;

    if (header)
        return header;
    header = (struct sfb_shared *)map_part(fd, 0, SFB_SHARED_PAGE);
    if (!header)
        return NULL;
    if (limit != RLIM_INFINITY && sfb_space_fit(&slots, &rings, limit, ring_bytes, session) &&
        map_windows(fd, ring_bytes, slots, rings))
        return header;
    __atomic_fetch_add(&header->lost[SFB_LOSS_SPACE], 1, __ATOMIC_RELAXED);
    munmap(header, SFB_SHARED_PAGE);
    return NULL;
}

void *sfb_space_map_threads(void)
{
    const size_t one = sfb_space.kind->thread_size, first = sfb_space.rings.first * one,
                 size = sfb_space.rings.end * one - first;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTDUMP);
    sfb_space.threads = (uintptr_t)at - first;
    return (void *)sfb_space.threads;
}
