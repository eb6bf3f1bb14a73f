/* Numbers in either byte order, at any alignment. */
#ifndef SFRAME_PUT_H
#define SFRAME_PUT_H

#include <stdbool.h>
#include <stdint.h>

/* @return behind the `width` bytes that were written */
static inline uint8_t *sframe_put(uint8_t *to, uint64_t value, unsigned width, bool big)
{
    for (unsigned i = 0; i < width; i++)
        to[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
    return to + width;
}

#endif
