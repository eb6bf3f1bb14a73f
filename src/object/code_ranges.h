/* Where the code of a file is: its bytes, by address. */
#ifndef OBJECT_CODE_RANGES_H
#define OBJECT_CODE_RANGES_H

#include "object/object.h"

/* [start, end) */
struct object_range {
    uint64_t start, end;
};

/**
 * Finds the code: executable segments or, in a relocatable object, sections where they were laid
 * out. object->code then has them, ascending, apart from each other, and with bytes in the file.
 *
 * @return false: no memory
 */
bool object_find_code(struct object *object);

/* Whether [start, end) lies in one stretch of code. */
bool object_is_code(const struct object *object, uint64_t start, uint64_t end);

/**
 * Finds the bytes of code at an address.
 *
 * @return them; NULL: not all of [start, start + size) is in the file
 */
const uint8_t *object_code_at(const struct object *object, uint64_t start, uint64_t size);

#endif
