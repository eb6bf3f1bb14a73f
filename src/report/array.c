#include "report/array.h"

#include <stdlib.h>

enum { FIRST = 64 };

bool report_array_grow(void **at, size_t count, size_t *room, size_t more, size_t size)
{
    size_t want = *room;
    void *grown;

    if (more <= *room - count)
        return true;
    while (want - count < more)
        want = want ? 2 * want : FIRST;
    grown = reallocarray(*at, want, size);
    if (!grown)
        return false;
    *at = grown;
    *room = want;
    return true;
}
