#include "util/array.h"

#include <string.h>

#include "util/grow.h"

void *report_array_next(void **at, size_t *count, size_t *room, size_t size)
{
    void *grown = array_grow(*at, *count, room, size, UINT32_MAX - 1);
    void *next;

    if (!grown)
        return NULL;
    *at = grown;
    next = (char *)grown + size * (*count)++;
    return memset(next, 0, size);
}
