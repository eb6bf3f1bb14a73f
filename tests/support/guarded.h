/*
 * Memory whose last byte lies before a page that cannot be touched: reading or writing one byte too
 * far ends the test, with and without sanitizers.
 */
#ifndef SUPPORT_GUARDED_H
#define SUPPORT_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    uint8_t *map;
    size_t map_size;
    uint8_t *end; /* the first byte that cannot be touched */
};

/* Room for size bytes, and usually for some more before them. */
static inline struct guarded guarded_new(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (size / page + 1) * page;
    struct guarded g = { .map_size = usable + page };
    void *map = mmap(NULL, g.map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        abort();
    g.map = map;
    g.end = g.map + usable;
    if (mprotect(g.end, page, PROT_NONE) != 0)
        abort();
    return g;
}

/* Copies size bytes so that they end at the end. */
static inline uint8_t *guarded_copy(const struct guarded *g, const void *data, size_t size)
{
    if (size > 0)
        memcpy(g->end - size, data, size);
    return g->end - size;
}

static inline void guarded_free(struct guarded *g)
{
    munmap(g->map, g->map_size);
}

#endif
