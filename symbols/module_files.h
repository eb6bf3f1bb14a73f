/*
 * The files of modules, each found, opened and read once: a log has the same program in thousands
 * of reports, every time at another address.
 */
#ifndef SYMBOLS_MODULE_FILES_H
#define SYMBOLS_MODULE_FILES_H

#include <stdbool.h>

#include "symbols/data_object.h"
#include "symbols/debug_file.h"
#include "symbols/names.h"
#include "util/reporter.h"

struct module_file {
    char *path; /* as the process knew it */
    struct object_build_id id;
    bool gone; /* from its path */
    struct object_files files;
    struct object_names *names; /* NULL: there is no file */
    bool refused;               /* no file is that one, and a report said why */
    bool told;                  /* for callers that show each file once: it was shown */
};

struct module_files {
    void *tree; /* of tsearch() */
    struct object_places places;
    struct reporter reporter;
};

/*
 * Gives the files of a module. The first call for a module reports what is wrong with them: no file was found,
 * or a file of another build was skipped.
 *
 * @param module    its image, if it has one, is borrowed as long as the files
 * @param expected  whether a missing file is reported
 * @return NULL: no memory
 */
struct module_file *module_files_find(struct module_files *files,
                                      const struct object_module *module, bool expected);

/*
 * How far a module is from its addresses as linked, by where its first segment starts.
 *
 * @return false: its files do not say
 */
bool module_file_bias(const struct module_file *file, uint64_t start, uint64_t *bias);

/*
 * Finds the object of data at an address of the process, by where the module's first segment starts.
 *
 * @return false: none with a name is there, or there is no file
 */
bool module_file_data(const struct module_file *file, uint64_t start, uint64_t address,
                      struct object_data *out);

void module_files_free(struct module_files *files);

#endif
