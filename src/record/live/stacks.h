/*
 * The stacks of the table: each once, found by its hash. Inserted without a lock: a place in the area is taken, the
 * stack written there, then published in its bucket. Who comes second uses the other's, and its own place is lost.
 */
#ifndef SFB_RECORD_LIVE_STACKS_H
#define SFB_RECORD_LIVE_STACKS_H

#include <stddef.h>
#include <stdint.h>

/* @return the id of a stack; 0: it is not known */
uint32_t sfb_live_stack_find(uint64_t hash);

/* Adds one. @return its id; 0: there is no room */
uint32_t sfb_live_stack_add(uint64_t hash, uint32_t list, const void *cbf, size_t size);

/* A block of a stack was overrun. */
void sfb_live_stack_overrun(uint32_t id);

#endif
