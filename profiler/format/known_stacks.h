/*
 * The stacks of a recording's processes, by their bytes: each is written once.
 *
 * Memory is bounded: all tables together hold at most SFB_KNOWN_BYTES_MAX. A process that would exceed it forgets its own
 * stacks: these are written again, with new ids.
 */
#ifndef PROFILER_FORMAT_KNOWN_STACKS_H
#define PROFILER_FORMAT_KNOWN_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SFB_KNOWN_BYTES_MAX ((size_t)64 << 20)

struct sfb_known_process; /* opaque */

struct sfb_known_stacks {
    struct sfb_known_process **processes;
    size_t count, room;
    size_t bytes; /* of all tables */
};

/* @return the id of a stack; 0: unknown */
uint32_t sfb_known_stacks_find(struct sfb_known_stacks *known, uint32_t process, const void *cbf,
                               size_t size);

/* Remembers a new stack. If that fails, the stack will be written again. */
void sfb_known_stacks_add(struct sfb_known_stacks *known, uint32_t process, const void *cbf,
                          size_t size, uint32_t id);

void sfb_known_stacks_forget(struct sfb_known_stacks *known, uint32_t process);
void sfb_known_stacks_free(struct sfb_known_stacks *known);

#endif
