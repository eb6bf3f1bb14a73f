/* The code of a file by address, with its bytes. */
#ifndef SYMBOLS_CODE_RANGES_H
#define SYMBOLS_CODE_RANGES_H

#include "symbols/object.h"

/* [start, end) */
struct object_range {
    uint64_t start, end;
};

/**
 * Collects the code in object->code: executable segments, or the laid-out sections of a relocatable
 * object. Ranges ascend, are disjoint, and have bytes in the file.
 *
 * @return false: no memory
 */
bool object_find_code(struct object *object);

/* Whether [start, end) lies in one range of code. */
bool object_is_code(const struct object *object, uint64_t start, uint64_t end);

/**
 * Finds the bytes of code at an address.
 *
 * @return NULL: [start, start + size) is not wholly in the file
 */
const uint8_t *object_code_at(const struct object *object, uint64_t start, uint64_t size);

#endif
