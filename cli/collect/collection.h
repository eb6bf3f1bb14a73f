/* What `sfb collect` puts into its tar file: modules with their debug files, and a manifest. */
#ifndef CLI_COLLECT_COLLECTION_H
#define CLI_COLLECT_COLLECTION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/collect/tar.h"
#include "symbols/module_files.h"

struct collection {
    struct tar tar;
    FILE *manifest; /* a line for each module, and for each file of it */
    bool missing;   /* something could not be collected, and stderr says what */
};

/*
 * Adds the files of a module, once.
 *
 * @param user  the collection, as symbols_each_module() wants it
 */
void collection_add(void *user, struct module_file *file);

#endif
