/* Arrays that grow. */
#ifndef UTIL_ARRAY_H
#define UTIL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* The index of a missing element. */
#define REPORT_NONE UINT32_MAX

#define REPORT_ARRAY(type)                                                                         \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, room;                                                                        \
    }

/* @return the next element, zeroed; NULL: no memory, or more than 32 bits count */
void *report_array_next(void **at, size_t *count, size_t *room, size_t size);

#define REPORT_NEXT(array)                                                                         \
    report_array_next((void **)&(array).at, &(array).count, &(array).room, sizeof *(array).at)

#endif
