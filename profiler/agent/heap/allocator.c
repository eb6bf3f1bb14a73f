#include "profiler/agent/heap/allocator.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/clocks.h"
#include "profiler/agent/heap/next.h"

#define EVERY_NS ((uint64_t)20000000)
#define LONG_NS  ((uint64_t)1000000)

/*
 * Of the program's CPU time: a busy machine gives it little of the time that passes. What an answer costs does not end with
 * it: glibc joins the free chunks that it had ready for the next malloc().
 */
enum { SHARE = 256 };

static uint64_t next_look, /* CLOCK_MONOTONIC ns */
    next_cpu;              /* CLOCK_PROCESS_CPUTIME_ID ns: the thread that looks next writes it */

bool sfb_heap_allocator_find(void)
{
    const struct sfb_heap_next *next = &sfb_heap_next;

    if (next->malloc_is_c_library)
        return next->mallinfo2 != NULL;
    return next->mallctl || next->tcmalloc_property;
}

/* --- the allocators ------------------------------------------------------------------------------- */

struct answer {
    uint64_t used, held; /* held 0: unknown */
};

/* Blocks in the caches of threads count as used. */
static void ask_c_library(struct answer *out)
{
    const struct mallinfo2 m = sfb_heap_next.mallinfo2();

    out->used = m.uordblks + m.hblkhd;
    out->held = m.arena + m.hblkhd;
}

/* Its statistics are as of the last change of "epoch". It may be built without them. */
static void ask_jemalloc(struct answer *out)
{
    uint64_t epoch = 1;
    size_t used = 0, held = 0, size = sizeof epoch;

    if (sfb_heap_next.mallctl("epoch", &epoch, &size, &epoch, sizeof epoch) != 0)
        return;
    size = sizeof used;
    if (sfb_heap_next.mallctl("stats.allocated", &used, &size, NULL, 0) != 0)
        return;
    size = sizeof held;
    if (sfb_heap_next.mallctl("stats.resident", &held, &size, NULL, 0) != 0)
        return;
    *out = (struct answer){ used, held };
}

static void ask_tcmalloc(struct answer *out)
{
    size_t used = 0, heap = 0, unmapped = 0;

    if (sfb_heap_next.tcmalloc_property("generic.current_allocated_bytes", &used) &&
        sfb_heap_next.tcmalloc_property("generic.heap_size", &heap) &&
        sfb_heap_next.tcmalloc_property("tcmalloc.pageheap_unmapped_bytes", &unmapped))
        *out = (struct answer){ used, heap > unmapped ? heap - unmapped : 0 };
}

/* --- when ------------------------------------------------------------------------------------------ */

void sfb_heap_allocator_look_now(void)
{
    const int before = errno;
    struct answer answer = { 0, 0 };

    if (sfb_heap_next.malloc_is_c_library)
        ask_c_library(&answer);
    else if (sfb_heap_next.mallctl)
        ask_jemalloc(&answer);
    else
        ask_tcmalloc(&answer);
    if (answer.held > 0) {
        __atomic_store_n(&sfb_agent.process->heap_used, answer.used, __ATOMIC_RELAXED);
        __atomic_store_n(&sfb_agent.process->heap_held, answer.held, __ATOMIC_RELAXED);
    }
    errno = before;
}

void sfb_heap_allocator_look(void)
{
    uint64_t next = __atomic_load_n(&next_look, __ATOMIC_RELAXED), cpu, took;
    const uint64_t now = sfb_now();

    /*
     * The answer takes locks: glibc's of all arenas, of which a thread may hold one that the program has stopped. Other
     * allocators map memory with their own locks held. Both are asked at the end alone.
     */
    if (!sfb_heap_next.malloc_is_c_library || !__libc_single_threaded)
        return;
    /* A handler may be here in the midst of it: not time yet. */
    if (now < next || !__atomic_compare_exchange_n(&next_look, &next, UINT64_MAX, false,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    cpu = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (cpu >= next_cpu) {
        sfb_heap_allocator_look_now();
        took = sfb_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        if (took > LONG_NS)
            return; /* never again: it goes through all free chunks, and the program waits */
        next_cpu = cpu + (SHARE + 1) * took;
    }
    __atomic_store_n(&next_look, now + EVERY_NS, __ATOMIC_RELAXED);
}

void sfb_heap_allocator_forget(void)
{
    next_cpu = 0;
    __atomic_store_n(&next_look, 0, __ATOMIC_RELAXED);
}
