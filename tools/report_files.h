/*
 * The files of the modules of crash reports, each opened and read once: a log has the same program
 * in thousands of reports, every time at another address.
 */
#ifndef REPORT_FILES_H
#define REPORT_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "report_modules.h"

struct report_file {
    struct report_module as; /* the first module that asked for it; the path is a copy */
    Dwfl *dwfl;              /* with one module, which lies where that one did */
    Dwfl_Module *module;
    bool refused;
    void *answers; /* of tsearch(): what was found at its addresses; each is one malloc() */
};

struct report_files {
    void *tree; /* of tsearch() */
};

/*
 * Gives the file of a module. It is looked for when libdwfl first wants it: at its path, if the file
 * there has the build-id, else where this machine keeps files by build-id.
 *
 * @return NULL: no memory
 */
struct report_file *report_files_find(struct report_files *files,
                                      const struct report_module *module);

void report_files_free(struct report_files *files);

#endif
