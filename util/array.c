#include "util/array.h"

#include "util/grow.h"

bool report_array_grow(void **at, size_t count, size_t *room, size_t size)
{
    void *grown = array_grow(*at, count, room, size, UINT32_MAX - 1);

    if (!grown)
        return false;
    *at = grown;
    return true;
}

void *report_array_add(void **at, size_t *count, size_t *room, size_t size, size_t more)
{
    void *first;

    while (*room - *count < more || *room == 0)
        if (!report_array_grow(at, *room, room, size))
            return NULL;
    first = (char *)*at + size * *count;
    *count += more;
    return first;
}
