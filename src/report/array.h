/* Arrays that grow. */
#ifndef REPORT_ARRAY_H
#define REPORT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define REPORT_ARRAY(type)                                                                         \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, room;                                                                        \
    }

/* Makes room for more elements of a size. @return false: no memory */
bool report_array_grow(void **at, size_t count, size_t *room, size_t more, size_t size);

#define REPORT_GROW(array, more)                                                                   \
    report_array_grow((void **)&(array).at, (array).count, &(array).room, more, sizeof *(array).at)

/* The next element, all zero; NULL: no memory. */
#define REPORT_NEXT(array)                                                                         \
    (REPORT_GROW(array, 1) ? (memset(&(array).at[(array).count], 0, sizeof *(array).at),           \
                              &(array).at[(array).count++])                                        \
                           : NULL)

#endif
