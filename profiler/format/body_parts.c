#include "profiler/format/body_parts.h"

#include "base/leb128.h"

uint32_t sfb_body_u32(struct sfb_reader *body)
{
    const uint64_t value = sfb_reader_uleb(body);

    if (value > UINT32_MAX)
        body->failed = true;
    return (uint32_t)value;
}

const void *sfb_body_bytes(struct sfb_reader *body, size_t *size)
{
    const uint64_t n = sfb_reader_uleb(body);
    const uint8_t *at = body->pos;

    sfb_reader_skip(body, n);
    *size = body->failed ? 0 : (size_t)n;
    return at;
}
