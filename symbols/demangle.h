/* Demangles names of functions. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>

enum object_name_style {
    OBJECT_NAME_FULL,  /* shape::area(double) */
    OBJECT_NAME_SHORT, /* shape::area(...): see short_name.h */
    OBJECT_NAME_RAW    /* as in symbol tables: _ZN5shape4areaEd */
};

/**
 * Parses "full", "short" or "raw". @return false: another word
 */
bool object_name_style_parse(const char *text, enum object_name_style *out);

/**
 * Writes a name in a style. Its form selects the language:
 *
 *     _R...                      Rust
 *     _ZN...17h<16 hex digits>E  Rust's older names ("legacy"); the digits are left out
 *     _D...                      D
 *     _Z...                      C++
 *
 * Other and malformed names are unchanged. So are names above 8 KiB, and results above 1 MiB: a
 * name of a hundred letters may expand beyond memory.
 *
 * libiberty reads all of them. For C++ it writes what libstdc++'s __cxa_demangle() does, from the
 * same source; that one cannot be stopped.
 *
 * @param raw  a version is left out: "pow@@GLIBC_2.29"
 *
 * @return the name, for free(), or NULL if out of memory
 */
char *object_demangle(const char *raw, enum object_name_style style);

#endif
