/* The names of modules that libdwfl has found, each read once. */
#ifndef MODULE_NAMES_H
#define MODULE_NAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/names.h"

struct module_names {
    void *tree; /* of tsearch() */
};

/* Of one module. */
struct module_name_table {
    Dwfl_Module *module;
    uint64_t bias; /* what to take from an address for the one as linked */
    struct object_names *names;
};

/*
 * Opens the files of a module when it is first asked for.
 *
 * @return NULL: it has no file, or there is no memory
 */
const struct module_name_table *module_names_find(struct module_names *all, Dwfl_Module *module);

/* To be called while libdwfl still has the modules. */
void module_names_free(struct module_names *all);

#endif
