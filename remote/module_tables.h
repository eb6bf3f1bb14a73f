/* The unwind tables of a mapped file, for a walk. */
#ifndef REMOTE_MODULE_TABLES_H
#define REMOTE_MODULE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/process_maps.h"
#include "symbols/tables.h"

struct remote_module_tables {
    bool is_there;
    struct object object;
    struct object_tables tables;
    void *index; /* of its .eh_frame; NULL: it has one itself */
};

/*
 * Opens them, by one mapping of the file.
 *
 * @param bytes  of the file; borrowed
 * @param ids    given so far: the module gets the next one, while there are any
 *
 * @return false: they are not a loaded file with that mapping; out needs no closing
 */
bool remote_module_tables_open(struct remote_module_tables *out, uint8_t *bytes, size_t size,
                               const struct object_mapping *mapping, uint16_t *ids);

void remote_module_tables_close(struct remote_module_tables *tables);

/* @return the module, if it has the pc; else NULL */
const struct sfb_module *remote_module_tables_at(const struct remote_module_tables *tables,
                                                 uint64_t pc);

#endif
