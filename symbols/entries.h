/*
 * The entries (DIEs) of a unit, in order of .debug_info.
 *
 * libdw's dwarf_siblingof() reads an entry's whole subtree to find its end, so a walk over a unit
 * reads most bytes several times. This walk reads each byte once, and only attributes of functions.
 * Results go to libdw, which follows references.
 *
 * No byte is trusted: malformed bytes end the walk.
 */
#ifndef SYMBOLS_ENTRIES_H
#define SYMBOLS_ENTRIES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

struct object_abbreviations {
    struct object_abbreviation *at; /* by code */
    size_t count, room;
    struct object_form {
        uint16_t name, form;
        uint32_t constant; /* of DW_FORM_implicit_const */
    } * forms;             /* of all abbreviations */
    size_t form_count, form_room;
};

struct object_entries {
    struct sfb_reader reader;
    struct object_abbreviations abbreviations;
    size_t depth; /* of the next entry */
    uint8_t version, address_size, offset_size;
    bool no_memory; /* the walk ended early */
};

/* DW_TAG_subprogram or DW_TAG_inlined_subroutine; other entries have the tag only. */
struct object_entry {
    const uint8_t *at; /* as in Dwarf_Die */
    unsigned tag;
    size_t depth; /* of the unit's own entry: 0 */
    bool has_code, has_ranges;
    uint64_t start, end; /* unless has_ranges: then libdw has them */
    uint32_t call_file, call_line, call_column;
};

/**
 * @param unit  the unit's first entry; its file stays open until object_entries_close()
 */
void object_entries_open(struct object_entries *out, Dwarf_Die *unit);

/**
 * @return false: no more entries, or a malformed one
 */
bool object_entries_next(struct object_entries *entries, struct object_entry *out);

void object_entries_close(struct object_entries *entries);

#endif
