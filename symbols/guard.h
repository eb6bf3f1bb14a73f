/*
 * Restricts what the program's libraries open to regular files: regular.h.
 *
 * libdw opens files that an ELF file names: split debug information (DW_AT_dwo_name), shared debug
 * information (.gnu_debugaltlink), separate debug information (.gnu_debuglink, build-id). It has no
 * callback for most of them.
 */
#ifndef SYMBOLS_GUARD_H
#define SYMBOLS_GUARD_H

#include "util/reporter.h"

/**
 * From now on open() for reading opens regular files only, in this program and all its libraries.
 *
 * @param to  copied: each file that was not opened is reported, with the cause
 */
void object_guard_libraries(const struct reporter *to);

#endif
