/*
 * Names of places in code: section, symbol.
 *
 * Object files have no addresses: check_image() invents a layout, which means nothing to users.
 * Their places are section and offset.
 */
#ifndef TOOLCHAIN_CHECK_WHERE_H
#define TOOLCHAIN_CHECK_WHERE_H

#include "symbols/labels.h"
#include "symbols/object.h"

/* A section or symbol, and the offset of a pc in it; NULL: not found. */
struct where_in {
    const char *name;
    uint64_t offset;
};

/* The code section with a pc. */
struct where_in where_section(const struct object *object, uint64_t pc);

/* The symbol at a pc; a label without a size extends to the next one in its section. */
struct where_in where_symbol(const struct object *object, uint64_t pc);

struct where_text {
    char text[192];
};

/* "0x1234"; in an object file ".text+0x34". A long name is cut and ends in "...". */
struct where_text where_address(const struct object *object, uint64_t address);

/*
 * "0x1234 (main+0x4)", uncut, for free(). @param object NULL: a bare section. @return NULL: no
 * memory
 */
char *where_pc(const struct object *object, uint64_t pc);

#endif
