/* Arrays that grow. */
#ifndef UTIL_ARRAY_H
#define UTIL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index of a missing element. */
#define REPORT_NONE UINT32_MAX

#define REPORT_ARRAY(type)                                                                         \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, room;                                                                        \
    }

/* Makes room for one element more. @return false: no memory, or more than 32 bits count */
bool report_array_grow(void **at, size_t count, size_t *room, size_t size);

/* Inline: sizes are constants, and most calls find room. @return the next element, zeroed; NULL: as above */
static inline void *report_array_next(void **at, size_t *count, size_t *room, size_t size)
{
    if (*count == *room && !report_array_grow(at, *count, room, size))
        return NULL;
    return memset((char *)*at + size * (*count)++, 0, size);
}

/* @return so many further elements, not written; NULL: as above */
void *report_array_add(void **at, size_t *count, size_t *room, size_t size, size_t more);

#define REPORT_ADD(array, more)                                                                    \
    report_array_add((void **)&(array).at, &(array).count, &(array).room, sizeof *(array).at, more)

#define REPORT_NEXT(array)                                                                         \
    report_array_next((void **)&(array).at, &(array).count, &(array).room, sizeof *(array).at)

#endif
