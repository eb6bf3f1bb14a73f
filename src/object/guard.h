/*
 * What the libraries of this program open, held to regular.h.
 *
 * libdw opens by itself what an ELF file names: split debug information (DW_AT_dwo_name), shared
 * debug information (.gnu_debugaltlink), separate debug information (.gnu_debuglink, build-id). It
 * has no callback for most of it.
 */
#ifndef OBJECT_GUARD_H
#define OBJECT_GUARD_H

/**
 * From now on open() for reading opens regular files only, in this program and all its libraries.
 *
 * @param refused  called for each file that was not opened, with the cause; NULL: not asked for
 */
void object_guard_libraries(void (*refused)(const char *path, const char *cause));

#endif
