/*
 * The files of a module: the loaded file, its symbols and its debug information. All names are
 * untrusted: only regular files are opened, and a file of another build is never used.
 *
 * Places of the file:
 *
 *     1. the path in the process
 *     2. /usr/lib/debug/.build-id/ab/cdef
 *     3. each symbol path: .build-id/ab/cdef, the same path below it, the base name anywhere in it
 *     4. debuginfod
 *
 * Without a build-id the symbol paths come first: the user named them for this process, while the
 * file at the path may be of another day or machine.
 *
 * Places of debug information outside of the file:
 *
 *     1. /usr/lib/debug/.build-id/ab/cdef.debug
 *     2. .gnu_debuglink's name: beside the file, in .debug/, in /usr/lib/debug/FOLDER; its CRC-32
 *        must match
 *     3. each symbol path: .build-id/ab/cdef.debug, the path below it, base names anywhere in it:
 *        the link's, the build-id's (cdef.debug), the file's with .debug, and the file's
 *     4. debuginfod
 *
 * Places of the part that dwz moved out (.gnu_debugaltlink): the link's path,
 * /usr/lib/debug/.build-id, symbol paths, debuginfod. libdw finds split debug information (.dwo).
 */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbols/candidate.h"
#include "symbols/module.h"
#include "symbols/trail.h"
#include "symbols/unpack.h"

struct object_files {
    struct object_opened file;  /* empty: not found */
    struct object_opened debug; /* empty: the file has it, or not found */
    struct object_opened alt;
    struct object_unpacked unpacked, alt_unpacked; /* what dwarf and alt_dwarf are of, if packed */
    Dwarf *dwarf;                                  /* of debug, else of file; may be NULL */
    Dwarf *alt_dwarf, *no_alt; /* the shared part for dwarf: of alt, else an empty one */
    struct object_trail trail;
};

/*
 * Finds the files of a module. Either may be missing: a debug file alone has names, too.
 *
 * Cost: opening them; with a symbol path one walk through its tree; with a link a CRC-32 of the
 * debug file.
 *
 * @param out  needs freeing in any case; the trail says why a file is missing
 * @return whether a file was found
 */
bool object_files_find(struct object_files *out, const struct object_module *module,
                       const struct object_places *places);

void object_files_free(struct object_files *files);

#endif
