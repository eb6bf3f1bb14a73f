/* Numbers of either byte order, at any alignment. */
#ifndef TOOLCHAIN_CHECK_BYTES_H
#define TOOLCHAIN_CHECK_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t bytes_load(const uint8_t *at, size_t width, bool big)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)at[i] << 8 * (big ? width - 1 - i : i);
    return value;
}

static inline int64_t bytes_load_signed(const uint8_t *at, size_t width, bool big)
{
    const unsigned unused = 64 - 8 * (unsigned)width;

    assert(width > 0 && width <= 8);
    return (int64_t)(bytes_load(at, width, big) << unused) >> unused;
}

static inline void bytes_store(uint8_t *at, size_t width, uint64_t value, bool big)
{
    for (size_t i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> 8 * (big ? width - 1 - i : i));
}

static inline bool bytes_are_zero(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

#endif
