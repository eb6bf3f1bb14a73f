/*
 * The functions of a unit, and those that were inlined into them, by debug information: made by one
 * walk over the unit when it is first touched.
 */
#ifndef OBJECT_INLINES_H
#define OBJECT_INLINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/code.h"
#include "object/spans.h"

/* A function, or a call of one that was inlined. */
struct object_inline {
    const uint8_t *at; /* its entry */
    const char *name;  /* NULL: not asked for yet */
    uint64_t start;    /* of a function that is not inlined: its first range's */
    uint32_t parent;   /* what contains it; OBJECT_NO_SPAN: nothing does */
    uint32_t call_file, call_line, call_column;
    bool inlined;
};

struct object_inlines {
    Dwarf_Die lines;       /* of the unit with the line table */
    const char *directory; /* in which the compiler ran; NULL: not known */
    Dwarf_CU *cu;          /* of the unit with the entries: another one if it is split */
    struct object_inline *at;
    size_t count, room;
    struct object_spans spans;
};

/**
 * Reads a unit.
 *
 * @param unit  its first entry; of a split unit that of its skeleton
 * @param code  borrowed for the call
 *
 * @return NULL: no memory
 */
struct object_inlines *object_inlines_make(Dwarf_Die *unit, const struct object_code *code);

/** @return the innermost function at an address, OBJECT_NO_SPAN: none. Cost: logarithmic. */
uint32_t object_inlines_find(const struct object_inlines *inlines, uint64_t address);

/**
 * @return the linkage name, where there is none the name in the source, and NULL without that.
 *         libdw owns it.
 */
const char *object_inlines_name(struct object_inlines *inlines, uint32_t id);

/** @return the file in which a call stands that was inlined, with its directory; NULL: not known */
const char *object_inlines_call_file(struct object_inlines *inlines, uint32_t id);

void object_inlines_free(struct object_inlines *inlines);

#endif
