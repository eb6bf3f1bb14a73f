/*
 * LEB128 numbers as they are written, the short form: DWARF 5 section 7.6. Protocol buffers call the unsigned ones varints.
 * base/leb128.h reads them.
 *
 * Threads, signals: safe. Inline, for agents and for archives that are installed: they link no library of this folder.
 */
#ifndef UTIL_LEB128_H
#define UTIL_LEB128_H

#include <stddef.h>
#include <stdint.h>

enum { SFB_LEB128_MAX = 10 }; /* bytes of a number of 64 bits */

/* @return how many bytes were written */
static inline size_t sfb_uleb_put(uint8_t out[SFB_LEB128_MAX], uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

/* @return how many bytes were written */
static inline size_t sfb_sleb_put(uint8_t out[SFB_LEB128_MAX], int64_t value)
{
    size_t n = 0;

    for (; value < -0x40 || value >= 0x40;
         value >>= 7) /* arithmetic in gcc and clang, which document it */
        out[n++] = (uint8_t)((uint64_t)value | 0x80);
    out[n++] = (uint8_t)((uint64_t)value & 0x7f);
    return n;
}

#endif
