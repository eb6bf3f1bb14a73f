/* Where the .eh_frame of a file is. */
#ifndef CHECK_CFI_PLACE_H
#define CHECK_CFI_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "object.h"

struct cfi_place {
    size_t section; /* its index; 0: there are no section headers, and the segment leads to it */
    uint64_t address, offset, size;
    enum { CFI_PLACE_FOUND, CFI_PLACE_NONE, CFI_PLACE_MACHINE } result;
    const char *reason; /* why level 4 cannot be run */
};

/*
 * Finds it: by its section or, as a process does, by PT_GNU_EH_FRAME where no section headers are.
 *
 * The segment says where .eh_frame begins. It ends where the last entry of the segment's table does.
 */
struct cfi_place cfi_place_find(const struct object *object);

#endif
