#include "base/sized.h"

#include <stdint.h>
#include <string.h>

/* The first member of all of them. */
static size_t size_of(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum sfb_status sfb_sized_check(const void *out)
{
    size_t size = size_of(out);

    return size == 0 || size % sizeof size != 0 || size > SFB_SIZED_MAX ? SFB_NO_SIZE : SFB_OK;
}

enum sfb_status sfb_sized_read(void *out, size_t ours, const void *in)
{
    const uint8_t *bytes = in;
    size_t size = size_of(in), known = min(size, ours);

    if (sfb_sized_check(in) != SFB_OK)
        return SFB_NO_SIZE;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return SFB_BAD_ARGUMENT;
    memcpy(out, in, known);
    memset((uint8_t *)out + known, 0, ours - known);
    memcpy(out, &ours, sizeof ours);
    return SFB_OK;
}

void sfb_sized_write(void *out, const void *from, size_t ours)
{
    size_t known = min(size_of(out), ours);

    memcpy((uint8_t *)out + sizeof known, (const uint8_t *)from + sizeof known,
           known - sizeof known);
}
