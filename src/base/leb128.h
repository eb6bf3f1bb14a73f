/* LEB128 numbers, DWARF 5 section 7.6. */
#ifndef SFB_LEB128_H
#define SFB_LEB128_H

#include "base/reader.h"

/* Padding is accepted; bits beyond the 64th are an error. */
static inline uint64_t sfb_reader_uleb(struct sfb_reader *r)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = sfb_reader_u8(r);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((shift == 63 && (byte & 0x7e)) || (shift > 63 && (byte & 0x7f)))
            r->failed = true;
        shift += 7;
    } while ((byte & 0x80) && !r->failed);
    return r->failed ? 0 : value;
}

static inline int64_t sfb_reader_sleb(struct sfb_reader *r)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = sfb_reader_u8(r);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (shift >= 63 && (byte & 0x7f) != (value >> 63 ? 0x7f : 0))
            r->failed = true;
        shift += 7;
    } while ((byte & 0x80) && !r->failed);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return r->failed ? 0 : (int64_t)value;
}

#endif
