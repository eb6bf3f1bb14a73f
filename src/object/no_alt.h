/*
 * Debug information with nothing in it, for a debug file whose shared part (.gnu_debugaltlink) was
 * not found. Without one, libdw looks for that part by itself and takes what it finds there.
 */
#ifndef OBJECT_NO_ALT_H
#define OBJECT_NO_ALT_H

#include <elfutils/libdw.h>

/* @return NULL: no memory. It is ended by object_no_alt_end() */
Dwarf *object_no_alt(void);

void object_no_alt_end(Dwarf *none);

#endif
