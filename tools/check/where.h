/*
 * How a place in the code is named: its section, its symbol.
 *
 * An object file has no addresses: check_image() lays its sections out somewhere, and nobody else
 * can find what lies there. Its places are a section and an offset.
 */
#ifndef CHECK_WHERE_H
#define CHECK_WHERE_H

#include "object/labels.h"
#include "object/object.h"

/* A section or symbol, and how far behind its start a pc is; NULL: there is none. */
struct where_in {
    const char *name;
    uint64_t offset;
};

/* The section of code that a pc is in. */
struct where_in where_section(const struct object *object, uint64_t pc);

/* The symbol that covers it; a label without a size reaches to the next one, in its section. */
struct where_in where_symbol(const struct object *object, uint64_t pc);

struct where_text {
    char text[192];
};

/* "0x1234"; in an object file ".text+0x34". A name that does not fit is cut, and ends in "...". */
struct where_text where_address(const struct object *object, uint64_t address);

/* "0x1234 (main+0x4)", whole, to be freed. @param object NULL: a bare section. @return NULL: no memory */
char *where_pc(const struct object *object, uint64_t pc);

#endif
