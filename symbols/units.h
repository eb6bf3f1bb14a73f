/*
 * The compilation unit of an address.
 *
 * .debug_aranges lists some units. For the others (clang writes none) the ranges of their first
 * entries are collected once, at the first unlisted address.
 */
#ifndef SYMBOLS_UNITS_H
#define SYMBOLS_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code.h"
#include "symbols/spans.h"

struct object_inlines;

struct object_unit {
    Dwarf_Off offset;               /* of its first entry, in .debug_info */
    struct object_inlines *inlines; /* NULL: not read yet; for object_inlines_free() */
};

struct object_units {
    Dwarf *dwarf;
    const struct object_code *code;
    struct object_unit *at; /* the listed ones first, by offset */
    size_t count, room, listed_count;
    struct object_spans listed, others;
    bool others_known;
};

/**
 * Reads .debug_aranges.
 *
 * @param dwarf  borrowed, as code is
 *
 * @return false: no memory, and no units
 */
bool object_units_make(struct object_units *out, Dwarf *dwarf, const struct object_code *code);

/**
 * @param address  in the debug file
 *
 * @return the unit, valid until the next call; NULL: not found, or no memory for the ranges of
 *         units
 */
struct object_unit *object_units_find(struct object_units *units, uint64_t address);

void object_units_free(struct object_units *units);

#endif
