/*
 * Fixed-width loads from any alignment in either byte order.
 *
 * The reader checks every field. These loads check nothing: they are for the capture path, where one
 * comparison has already covered all bytes of a record. `swap` is a constant at nearly every call. So
 * each search and scan is compiled once per byte order, without a test in its loop.
 */
#ifndef SFB_LOAD_H
#define SFB_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The specialisation above happens only if every level is inlined, which -O2 does not promise. */
#define SFB_INLINE static inline __attribute__((always_inline))

SFB_INLINE uint16_t sfb_load_u16(const uint8_t *at, bool swap)
{
    uint16_t v;

    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap16(v) : v;
}

SFB_INLINE uint32_t sfb_load_u32(const uint8_t *at, bool swap)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

SFB_INLINE uint64_t sfb_load_u64(const uint8_t *at, bool swap)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

SFB_INLINE int32_t sfb_load_i32(const uint8_t *at, bool swap)
{
    return (int32_t)sfb_load_u32(at, swap);
}

#endif
