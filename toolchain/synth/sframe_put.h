/* Numbers in either byte order, at any alignment. */
#ifndef TOOLCHAIN_SYNTH_SFRAME_PUT_H
#define TOOLCHAIN_SYNTH_SFRAME_PUT_H

#include <stdbool.h>
#include <stdint.h>

/* @return the end of the `width` written bytes */
static inline uint8_t *sframe_put(uint8_t *to, uint64_t value, unsigned width, bool big)
{
    for (unsigned i = 0; i < width; i++)
        to[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
    return to + width;
}

#endif
