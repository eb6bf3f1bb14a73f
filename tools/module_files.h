/*
 * The files of modules, each found, opened and read once: a log has the same program in thousands
 * of reports, every time at another address.
 */
#ifndef MODULE_FILES_H
#define MODULE_FILES_H

#include <stdbool.h>

#include "object/debug_file.h"
#include "object/names.h"

struct module_file {
    char *path; /* as the process knew it */
    struct object_build_id id;
    bool gone; /* from its path */
    struct object_files files;
    struct object_names *names; /* NULL: there is no file */
    bool refused;               /* no file is that one, and stderr says why */
    bool told;                  /* who shows each file once has shown it */
};

struct module_files {
    void *tree; /* of tsearch() */
    struct object_places places;
};

/*
 * Gives the files of a module. When they are first asked for, stderr says what is wrong with them:
 * that there is none, or that one was not used because it is of another build.
 *
 * @param module  its image, if it has one, is borrowed as long as the files
 * @param expected  that there is a file; else nothing is said if there is none
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

void module_files_free(struct module_files *files);

#endif
