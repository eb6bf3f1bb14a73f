/*
 * Writes an sfb_error.
 *
 * The write is cold and never inlined, so the compiler moves each failing path out of the way of the
 * succeeding code. The return of the status is inlined, so the compiler sees that such a path ends.
 */
#ifndef SFB_FAIL_H
#define SFB_FAIL_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/status.h"

__attribute__((cold, noinline, unused)) static void sfb_error_write(struct sfb_error *error,
                                                                    enum sfb_status status,
                                                                    const char *field,
                                                                    uint64_t offset)
{
    if (error != NULL)
        *error = (struct sfb_error){ .status = status, .field = field, .offset = offset };
}

static inline __attribute__((always_inline)) enum sfb_status sfb_fail(struct sfb_error *error,
                                                                      enum sfb_status status,
                                                                      const char *field,
                                                                      uint64_t offset)
{
    sfb_error_write(error, status, field, offset);
    return status;
}

#endif
