/* Arrays that grow. */
#ifndef REPORT_ARRAY_H
#define REPORT_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Of things that are found by number: there is none. */
#define REPORT_NONE UINT32_MAX

#define REPORT_ARRAY(type)                                                                         \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, room;                                                                        \
    }

/* @return the next element, all zero; NULL: no memory, or more of them than 32 bits count */
void *report_array_next(void **at, size_t *count, size_t *room, size_t size);

#define REPORT_NEXT(array)                                                                         \
    report_array_next((void **)&(array).at, &(array).count, &(array).room, sizeof *(array).at)

#endif
