/*
 * Opening what a report, a memory map or another file names.
 *
 * Whoever wrote the name may have chosen a FIFO, on which open() waits for ever, a terminal, or a
 * device that has no end or does something when it is opened. Regular files only are opened, and
 * none is waited for.
 */
#ifndef REGULAR_H
#define REGULAR_H

#include <stdbool.h>

/* @return a descriptor; -1: none, and *cause says why */
int regular_open(const char *path, const char **cause);

/*
 * From now on holds every file to this that a library opens for reading.
 *
 * libdw opens by itself what an ELF file names: split debug information (DW_AT_dwo_name), shared
 * debug information (.gnu_debugaltlink), separate debug information (.gnu_debuglink, build-id). A
 * complaint says what was not opened.
 */
void regular_guard_libraries(void);

#endif
