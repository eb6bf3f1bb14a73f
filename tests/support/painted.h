/* A stack that is painted, to see afterwards how much of it was used. */
#ifndef SUPPORT_PAINTED_H
#define SUPPORT_PAINTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PAINTED_SIZE = 64 << 10, PAINT = 0xcd };

/* @param stack  PAINTED_SIZE bytes, nothing of them in use */
static inline void paint(uint8_t *stack)
{
    memset(stack, PAINT, PAINTED_SIZE);
}

/* @return bytes from the lowest one that was written to the stack's upper end */
static inline size_t painted_used(const uint8_t *stack)
{
    size_t untouched = 0;

    while (untouched < PAINTED_SIZE && stack[untouched] == PAINT)
        untouched++;
    return PAINTED_SIZE - untouched;
}

#endif
