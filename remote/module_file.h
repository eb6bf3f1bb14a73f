/* Where the file of a module is, by its facts. */
#ifndef REMOTE_MODULE_FILE_H
#define REMOTE_MODULE_FILE_H

#include <stdbool.h>

#include "symbols/candidate.h"
#include "symbols/module.h"

/*
 * The places of its file. symbols/debug_file.h has the same places, and more for debug information.
 *
 * @param out  written if found
 */
bool remote_module_file(struct object_opened *out, const struct object_module *module);

#endif
