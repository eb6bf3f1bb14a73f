#include "profiler/agent/live/neighbours.h"

#include <stdint.h>
#include <string.h>

#include "unwind/process/pages.h"

/*
 * A chunk in use has its size 8 bytes before the block, and takes these and 8 bytes more than the block has usable ones. A
 * chunk that mmap() gave has no neighbours: it begins behind so many bytes of a page as the word before its size says.
 */
enum {
    PREVIOUS_IS_IN_USE = 1,
    IS_MMAPPED = 2,
    FLAGS = 7,
    UNIT = 16,
    OVERHEAD = 8,
    PAGE = 4096,
    CHUNK_MIN = 16, /* of the last chunk of an arena's heap; others have 32 */
    HOPS = 64
};

bool sfb_live_has_headers;

/* @return whether the word could be read */
static bool read_word(uint64_t at, uint64_t *word)
{
    if (at % sizeof *word != 0 || !sfb_page_probe(at))
        return false;
    memcpy(word, (const void *)(uintptr_t)at, sizeof *word);
    return true;
}

/* Whether a word may be the size of a chunk with neighbours. */
static bool is_size(uint64_t word)
{
    const uint64_t size = word & ~(uint64_t)FLAGS;

    return (word & IS_MMAPPED) == 0 && size % UNIT == 0 && size >= CHUNK_MIN && size >> 48 == 0;
}

static bool is_mapped_by_itself(uint64_t block, size_t usable)
{
    uint64_t before = 0;

    return block >= UNIT && read_word(block - UNIT, &before) &&
           (block - UNIT - before) % PAGE == 0 && (before + UNIT + usable) % PAGE == 0;
}

bool sfb_live_ends_there(const void *block, size_t usable)
{
    uint64_t next = 0;

    if (usable % UNIT != OVERHEAD)
        return is_mapped_by_itself((uintptr_t)block, usable);
    return read_word((uintptr_t)block + usable, &next) && is_size(next) &&
           (next & PREVIOUS_IS_IN_USE);
}

bool sfb_live_was_split(const void *block, size_t usable, size_t to)
{
    size_t at = usable;

    if (usable % UNIT != OVERHEAD || !sfb_live_ends_there(block, usable))
        return false;
    for (int i = 0; i < HOPS && at < to; i++) {
        uint64_t size = 0;

        if (!read_word((uintptr_t)block + at, &size) || !is_size(size))
            return false;
        at += (size_t)(size & ~(uint64_t)FLAGS);
    }
    return at == to;
}
