/*
 * Empty debug information, for a debug file without its shared part (.gnu_debugaltlink). Otherwise
 * libdw looks for that part and takes any file.
 */
#ifndef SYMBOLS_NO_ALT_H
#define SYMBOLS_NO_ALT_H

#include <elfutils/libdw.h>

/* @return NULL: no memory; for object_no_alt_end() */
Dwarf *object_no_alt(void);

void object_no_alt_end(Dwarf *none);

#endif
