#include "profiler/agent/heap/usable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "profiler/agent/heap/next.h"
#include "profiler/protocol/live.h"
#include "unwind/machine/native.h"
#include "unwind/process/pages.h"

/* --- glibc's header -------------------------------------------------------------------------------- */

enum { ALIGNMENT = 16, CHUNK_MIN = 32 };

bool sfb_heap_has_headers;

/* @return 0: the header cannot be a block's. As free() judges it */
static size_t usable_by_header(void *block)
{
    const uint64_t header = (uintptr_t)block % ALIGNMENT == 0 ? sfb_heap_header(block) : 0,
                   size = header & ~(uint64_t)SFB_HEAP_CHUNK_FLAGS;

    if (header & SFB_HEAP_CHUNK_IS_MMAPPED)
        return sfb_heap_next.malloc_usable_size(block); /* reads this header only */
    return size >= CHUNK_MIN && size % ALIGNMENT == 0 ? size - SFB_HEAP_CHUNK_OVERHEAD : 0;
}

static bool agrees(size_t size)
{
    void *block = sfb_heap_next.malloc(size);
    const bool good = block && usable_by_header(block) == sfb_heap_next.malloc_usable_size(block);

    sfb_heap_next.free(block);
    return good;
}

/* Valgrind has its own allocator behind the C library's names, and reports reads of what is before a block. */
static bool is_under_valgrind(void)
{
    enum { RUNNING_ON_VALGRIND = 0x1001 };
    const uint64_t request[6] = { RUNNING_ON_VALGRIND };

    return sfb_arch_valgrind(request) != 0;
}

/* A later release may have other headers, and memory tags make others. */
void sfb_heap_usable_begin(void)
{
    sfb_heap_has_headers =
        sfb_heap_next.malloc_is_c_library && !is_under_valgrind() && agrees(24) && agrees(1000);
}

/* --- where blocks were seen ------------------------------------------------------------------------
 *
 * In windows of 64 MiB, from which page to which. Only blocks that cross pages are kept: the tail of another one is on
 * the page of its header, which was read already.
 */

enum { WINDOW_BITS = 26, PAGE_BITS = 12, NUMBER_BITS = WINDOW_BITS - PAGE_BITS, WINDOWS = 64 };

#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)

static uint64_t seen[WINDOWS]; /* window << 28 | first page << 14 | last page; 0: none seen */

static uint64_t page_in_window(uint64_t address)
{
    return address >> PAGE_BITS & NUMBER_MASK;
}

static bool is_seen(uint64_t from, uint64_t to, uint64_t known)
{
    return known >> (2 * NUMBER_BITS) == to >> WINDOW_BITS &&
           from >> WINDOW_BITS == to >> WINDOW_BITS &&
           page_in_window(from) >= (known >> NUMBER_BITS & NUMBER_MASK) &&
           page_in_window(to) <= (known & NUMBER_MASK);
}

static uint64_t *place_of(uint64_t address)
{
    return &seen[(address >> WINDOW_BITS) % WINDOWS];
}

/* Two threads may write at once: what one of them loses is seen later. */
static void keep(uint64_t from, uint64_t to)
{
    uint64_t *at = place_of(to), first = page_in_window(from), last = page_in_window(to);
    const uint64_t window = to >> WINDOW_BITS, known = __atomic_load_n(at, __ATOMIC_RELAXED);

    if (is_seen(from, to, known) || from >> WINDOW_BITS != window)
        return;
    if (known >> (2 * NUMBER_BITS) == window) {
        const uint64_t first_known = known >> NUMBER_BITS & NUMBER_MASK,
                       last_known = known & NUMBER_MASK;

        first = first < first_known ? first : first_known;
        last = last > last_known ? last : last_known;
    }
    __atomic_store_n(at, window << (2 * NUMBER_BITS) | first << NUMBER_BITS | last,
                     __ATOMIC_RELAXED);
}

static bool crosses_pages(uint64_t from, uint64_t to)
{
    return (from ^ to) >> PAGE_BITS != 0;
}

size_t sfb_heap_usable_new(void *block)
{
    const size_t usable = sfb_heap_usable_fresh(block);
    const uint64_t at = (uintptr_t)block;

    if (usable > 0 && crosses_pages(at, at + usable - 1))
        keep(at, at + usable - 1);
    return usable;
}

size_t sfb_heap_usable_given(void *block)
{
    const size_t usable =
        sfb_heap_has_headers ? usable_by_header(block) : sfb_heap_next.malloc_usable_size(block);
    const uint64_t at = (uintptr_t)block, last = at + usable - 1;

    if (usable < SFB_LIVE_TAIL || last < at || last >> SFB_LIVE_BLOCK_BITS != 0)
        return 0;
    if (!crosses_pages(at, last) ||
        is_seen(at, last, __atomic_load_n(place_of(last), __ATOMIC_RELAXED)))
        return usable;
    return sfb_page_probe(last) ? usable : 0;
}
