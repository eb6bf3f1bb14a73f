/* Which places were asked for the files of a module: `sfb symbolize --why`. */
#ifndef CLI_SYMBOLIZE_WHY_H
#define CLI_SYMBOLIZE_WHY_H

#include <stddef.h>

#include "symbols/symbols.h"

/*
 * Prints them for each module that a pattern means and that was not shown before.
 *
 * @param pattern  a path, a base name, or the beginning of a build-id
 * @param printed  whether anything was printed before, and whether it is now
 * @param missing  set if one of the modules has no file here
 * @return how many modules there were
 */
size_t why_print(struct symbols *symbols, const char *pattern, bool *printed, bool *missing);

#endif
