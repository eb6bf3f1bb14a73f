#include "profiler/format/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/leb128.h"

uint8_t *sfb_bytes_add(struct sfb_bytes *b, size_t n)
{
    uint8_t *at;

    if (b->failed || n > SIZE_MAX - b->size ||
        !array_make_room_for(&b->at, &b->room, b->size + n)) {
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
    uint8_t out[SFB_LEB128_MAX];

    sfb_bytes_put(b, out, sfb_uleb_put(out, value));
}

void sfb_bytes_put_sleb(struct sfb_bytes *b, int64_t value)
{
    uint8_t out[SFB_LEB128_MAX];

    sfb_bytes_put(b, out, sfb_sleb_put(out, value));
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
