/*
 * The hash of a stack: over its addresses, outermost first. So a memo keeps the hash of the outer part, and
 * only the rest is computed.
 *
 * Two multiplications and an addition a frame. Only one multiplication and the addition wait for the frame before. The
 * hash is not cryptographic: a program can make stacks that collide.
 */
#ifndef SFB_UNWIND_CAPTURE_STACK_HASH_H
#define SFB_UNWIND_CAPTURE_STACK_HASH_H

#include <stdint.h>

/* Hash of an empty stack. */
#define SFB_STACK_HASH_START 0x243f6a8885a308d3u /* of pi */

/* Adds the frame further in. */
static inline uint64_t sfb_stack_hash_add(uint64_t outer, uint64_t address)
{
    uint64_t mixed = address * 0x9e3779b97f4a7c15u;

    return outer * 0xd1342543de82ef95u + (mixed ^ mixed >> 32);
}

/* Finishes a hash. Before that, its low bits depend on few bits of the addresses. */
static inline uint64_t sfb_stack_hash_end(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

#endif
