/* Names of functions as people write them. */
#ifndef OBJECT_DEMANGLE_H
#define OBJECT_DEMANGLE_H

#include <stdbool.h>

enum object_name_style {
    OBJECT_NAME_FULL,  /* shape::area(double) */
    OBJECT_NAME_SHORT, /* shape::area(...): see short_name.h */
    OBJECT_NAME_RAW    /* as symbol tables have it: _ZN5shape4areaEd */
};

/** Reads "full", "short" or "raw". @return false: it is none of them */
bool object_name_style_parse(const char *text, enum object_name_style *out);

/**
 * Gives a name in a style. Its form says which language it is of:
 *
 *     _R...                      Rust
 *     _ZN...17h<16 hex digits>E  Rust's older names ("legacy"); the digits are left out
 *     _D...                      D
 *     _Z...                      C++
 *
 * What has none of these forms, or is not what its form says, stays as it is. So do names of more
 * than 8 KiB, and those that would become more than 1 MiB: one of a hundred letters may stand for
 * more text than there is memory.
 *
 * All are read by libiberty. Of C++ names it writes what libstdc++'s __cxa_demangle() does, which
 * is the same source, but has no way to stop.
 *
 * @param raw  a version behind the name is left out: "pow@@GLIBC_2.29"
 *
 * @return the name, for free(), or NULL where memory is out
 */
char *object_demangle(const char *raw, enum object_name_style style);

#endif
