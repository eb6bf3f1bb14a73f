#include "recording/bytes.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct sfb_bytes *b, size_t wanted)
{
    size_t room = b->room > 0 ? b->room : 256;
    uint8_t *grown;

    while (room < wanted && room <= SIZE_MAX / 2)
        room *= 2;
    grown = room >= wanted ? realloc(b->at, room) : NULL;
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->at = grown;
    b->room = room;
    return true;
}

uint8_t *sfb_bytes_add(struct sfb_bytes *b, size_t n)
{
    uint8_t *at;

    if (b->failed || n > SIZE_MAX - b->size || (b->size + n > b->room && !grow(b, b->size + n))) {
        b->failed = true;
        return NULL;
    }
    at = b->at + b->size;
    b->size += n;
    return at;
}

void sfb_bytes_put(struct sfb_bytes *b, const void *from, size_t n)
{
    uint8_t *at = n > 0 ? sfb_bytes_add(b, n) : NULL;

    if (at != NULL)
        memcpy(at, from, n);
}

void sfb_bytes_put_u8(struct sfb_bytes *b, unsigned value)
{
    const uint8_t byte = (uint8_t)value;

    sfb_bytes_put(b, &byte, 1);
}

void sfb_bytes_put_uleb(struct sfb_bytes *b, uint64_t value)
{
    uint8_t out[10];
    size_t n = 0;

    while (value >= 0x80) {
        out[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[n++] = (uint8_t)value;
    sfb_bytes_put(b, out, n);
}

void sfb_bytes_put_sleb(struct sfb_bytes *b, int64_t value)
{
    uint8_t out[10];
    size_t n = 0;

    while (value < -0x40 || value >= 0x40) {
        out[n++] = (uint8_t)((uint64_t)value | 0x80);
        value >>= 7; /* arithmetic in gcc and clang, which document it */
    }
    out[n++] = (uint8_t)((uint64_t)value & 0x7f);
    sfb_bytes_put(b, out, n);
}

void sfb_bytes_put_text(struct sfb_bytes *b, const void *from, size_t n)
{
    sfb_bytes_put_uleb(b, n);
    sfb_bytes_put(b, from, n);
}

void sfb_bytes_free(struct sfb_bytes *b)
{
    free(b->at);
    *b = (struct sfb_bytes){ 0 };
}
