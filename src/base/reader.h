/*
 * A bounds-checked window on bytes that only moves forward.
 *
 * Failure is sticky: a parser reads all its fields, asks `failed` once, then judges the values.
 * memcpy and a builtin swap become one mov (and one bswap) in gcc and clang; a loop over bytes does
 * not, and packed structs would promise an alignment and a type that the bytes do not have.
 */
#ifndef SFB_READER_H
#define SFB_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sfb_reader {
    const uint8_t *pos;
    size_t left; /* bytes from pos to the end of the window */
    bool swap;   /* the data's byte order is not the host's */
    bool failed;
};

static inline bool sfb_reader_copy(struct sfb_reader *r, void *out, size_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        return false;
    }
    memcpy(out, r->pos, n);
    r->pos += n;
    r->left -= n;
    return true;
}

static inline uint8_t sfb_reader_u8(struct sfb_reader *r)
{
    uint8_t v = 0;

    sfb_reader_copy(r, &v, sizeof v);
    return v;
}

static inline uint16_t sfb_reader_u16(struct sfb_reader *r)
{
    uint16_t v = 0;

    return sfb_reader_copy(r, &v, sizeof v) && r->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t sfb_reader_u32(struct sfb_reader *r)
{
    uint32_t v = 0;

    return sfb_reader_copy(r, &v, sizeof v) && r->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t sfb_reader_u64(struct sfb_reader *r)
{
    uint64_t v = 0;

    return sfb_reader_copy(r, &v, sizeof v) && r->swap ? __builtin_bswap64(v) : v;
}

static inline void sfb_reader_skip(struct sfb_reader *r, uint64_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        return;
    }
    r->pos += n;
    r->left -= n;
}

#endif
