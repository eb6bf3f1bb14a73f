/*
 * The blocks of a process that live, by their address.
 *
 * Open addressing, in 256 parts that grow by themselves: no growth takes longer than threads can wait for room in their
 * rings.
 */
#ifndef RECORDER_HEAP_TABLE_H
#define RECORDER_HEAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_heap_block {
    uint64_t pointer; /* 0: the place is empty */
    uint64_t size;
    uint64_t time; /* of its allocation, as sfb_heap_clock counts */
    uint32_t site; /* index */
    uint16_t slack;
    uint16_t chain; /* reallocs that it went through */
};

enum { SFB_HEAP_PARTS = 256 };

struct sfb_heap_table {
    struct {
        struct sfb_heap_block *at;
        uint32_t room, count;
    } parts[SFB_HEAP_PARTS];
    size_t count;
};

/* @return NULL: no block with this address lives. It is valid until a block is added or removed. */
struct sfb_heap_block *sfb_heap_table_find(const struct sfb_heap_table *table, uint64_t pointer);

/* Adds a block whose address is not there, and not 0. @return false: no memory */
bool sfb_heap_table_add(struct sfb_heap_table *table, const struct sfb_heap_block *block);

/* Removes one that find() gave. */
void sfb_heap_table_remove(struct sfb_heap_table *table, struct sfb_heap_block *block);

void sfb_heap_table_free(struct sfb_heap_table *table);

#endif
