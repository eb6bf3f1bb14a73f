/*
 * The live blocks of a process, by address.
 *
 * Open addressing, in 256 parts that grow one by one: no growth takes longer than threads can wait for room in their
 * rings.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_TABLE_H
#define PROFILER_COLLECTOR_HEAP_HEAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_heap_block {
    uint64_t pointer; /* 0: empty */
    uint64_t size;
    uint64_t time; /* of its allocation, in counts of sfb_heap_clock */
    uint32_t site; /* index */
    uint16_t slack;
    uint16_t chain; /* number of reallocs before it */
};

enum { SFB_HEAP_PARTS = 256 };

struct sfb_heap_table {
    struct {
        struct sfb_heap_block *at;
        uint32_t room, count;
    } parts[SFB_HEAP_PARTS];
    size_t count;
};

/* @return NULL: no live block has this address. Valid until a block is added or removed. */
struct sfb_heap_block *sfb_heap_table_find(const struct sfb_heap_table *table, uint64_t pointer);

/* Begins to fetch an address's place from memory. */
void sfb_heap_table_prefetch(const struct sfb_heap_table *table, uint64_t pointer);

/* Adds a block whose address is new, and not 0. @return false: no memory */
bool sfb_heap_table_add(struct sfb_heap_table *table, const struct sfb_heap_block *block);

/* Removes a block found by sfb_heap_table_find(). */
void sfb_heap_table_remove(struct sfb_heap_table *table, struct sfb_heap_block *block);

void sfb_heap_table_free(struct sfb_heap_table *table);

#endif
