/* The unwind tables of a linked file as a walk takes them: a struct sfb_module at an address. */
#ifndef OBJECT_TABLES_H
#define OBJECT_TABLES_H

#include <sfb/walk.h>

#include "object/eh_frame.h"

struct object_tables {
    struct sfb_module module;    /* id 0: give it one for a rule cache */
    struct object_eh_frame view; /* what module.eh_frame borrows */
};

/**
 * Describes a module that lies `bias` bytes from where it is linked to.
 *
 * The statuses of the module say what it lacks: SFB_NO_SECTION, SFB_NO_EH_FRAME; SFB_BAD_ELF where the
 * file's headers lead past it; SFB_BAD_ABI where the section is another machine's; else what the
 * reader of the table says.
 *
 * @param out     for object_tables_close()
 * @param object  borrowed until then
 *
 * @return false: it has no segment that is loaded, as relocatable objects; nothing is to be closed
 */
bool object_tables_open(struct object_tables *out, const struct object *object, uint64_t bias);

void object_tables_close(struct object_tables *tables);

#endif
