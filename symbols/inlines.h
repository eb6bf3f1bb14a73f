/*
 * The functions of a unit with their inlined functions, by debug information: one walk over the
 * unit when it is first used.
 */
#ifndef SYMBOLS_INLINES_H
#define SYMBOLS_INLINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code.h"
#include "symbols/spans.h"

/* A function, or an inlined call of one. */
struct object_inline {
    const uint8_t *at; /* its entry */
    const char *name;  /* NULL: not looked up yet */
    uint64_t start;    /* of a function that is not inlined: start of its first range */
    uint32_t parent;   /* the enclosing one; OBJECT_NO_SPAN: none */
    uint32_t call_file, call_line, call_column;
    bool inlined;
};

struct object_inlines {
    Dwarf_Die lines;       /* of the unit with the line table */
    const char *directory; /* the compiler's working directory; NULL: unknown */
    Dwarf_CU *cu;          /* of the unit with the entries: another one if split */
    struct object_inline *at;
    size_t count, room;
    struct object_spans spans;
};

/**
 * Reads a unit.
 *
 * @param unit  its first entry; of a split unit the skeleton's
 * @param code  borrowed for the call
 *
 * @return NULL: no memory
 */
struct object_inlines *object_inlines_make(Dwarf_Die *unit, const struct object_code *code);

/** @return the innermost function at an address, OBJECT_NO_SPAN: none. Cost: logarithmic. */
uint32_t object_inlines_find(const struct object_inlines *inlines, uint64_t address);

/**
 * @return the linkage name, else the name in the source, else NULL. libdw owns it.
 */
const char *object_inlines_name(struct object_inlines *inlines, uint32_t id);

/**
 * @return the file of an inlined call, with its directory; NULL: unknown
 */
const char *object_inlines_call_file(struct object_inlines *inlines, uint32_t id);

void object_inlines_free(struct object_inlines *inlines);

#endif
