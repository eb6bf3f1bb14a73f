/* The unwind tables of a linked file for a walk: a struct sfb_module at an address. */
#ifndef SYMBOLS_TABLES_H
#define SYMBOLS_TABLES_H

#include <sfb/walk.h>

#include "symbols/eh_frame.h"

struct object_tables {
    struct sfb_module module;    /* id 0: set one for a rule cache */
    struct object_eh_frame view; /* borrowed by module.eh_frame */
};

/**
 * Describes a module loaded `bias` bytes above its linked addresses.
 *
 * The module's statuses say what is missing: SFB_NO_SECTION, SFB_NO_EH_FRAME; SFB_BAD_ELF for
 * headers that lead past the file; SFB_BAD_ABI for a section of another machine; else a status of
 * the table's reader.
 *
 * @param out     for object_tables_close()
 * @param object  borrowed until then
 *
 * @return false: no loaded segment, as in relocatable objects; nothing needs closing
 */
bool object_tables_open(struct object_tables *out, const struct object *object, uint64_t bias);

void object_tables_close(struct object_tables *tables);

#endif
