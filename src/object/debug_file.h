/*
 * The files of a module: what was loaded, and where its symbols and debug information are. All
 * names are somebody else's; regular files only are opened, and one of another build is never used.
 *
 * Places of the file:
 *
 *     1. the path that the process had
 *     2. /usr/lib/debug/.build-id/ab/cdef
 *     3. each symbol path: .build-id/ab/cdef, the same path below it, the base name anywhere in it
 *     4. debuginfod
 *
 * Without a build-id the symbol paths come first: somebody named them for this process, while the
 * file at the path may be that of another day or machine.
 *
 * Places of the debug information, where the file has none in it:
 *
 *     1. /usr/lib/debug/.build-id/ab/cdef.debug
 *     2. .gnu_debuglink's name: beside the file, in .debug/, in /usr/lib/debug/FOLDER; its CRC-32
 *        has to be right
 *     3. each symbol path: .build-id/ab/cdef.debug, the path below it, base names anywhere in it:
 *        the link's, the build-id's (cdef.debug), the file's with .debug, and the file's
 *     4. debuginfod
 *
 * And of what dwz moved out of it (.gnu_debugaltlink): the link's path, /usr/lib/debug/.build-id,
 * symbol paths, debuginfod. Split debug information (.dwo) is found by libdw.
 */
#ifndef OBJECT_DEBUG_FILE_H
#define OBJECT_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "object/candidate.h"
#include "object/module.h"
#include "object/trail.h"

struct object_files {
    struct object_opened file;  /* none: not found */
    struct object_opened debug; /* none: the file has it, or it was not found */
    struct object_opened alt;
    Dwarf *dwarf;              /* of debug, else of file; NULL: none */
    Dwarf *alt_dwarf, *no_alt; /* what dwarf refers to: of alt, else one that is empty */
    struct object_trail trail;
};

/*
 * Finds the files of a module. Either file may be missing: the debug file alone has names, too.
 *
 * Cost: that of opening them; with a symbol path once a walk through its tree, with a link a CRC-32
 * of the debug file.
 *
 * @param out  to be freed, even where nothing is found: the trail says why
 * @return whether there is one
 */
bool object_files_find(struct object_files *out, const struct object_module *module,
                       const struct object_places *places);

void object_files_free(struct object_files *files);

#endif
