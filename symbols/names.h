/*
 * Functions and source lines of the addresses of an ELF file.
 *
 * Tables are made on first use, and only as needed: functions of the symbol tables, units, and
 * functions and lines of each unit. Then an address costs microseconds.
 */
#ifndef SYMBOLS_NAMES_H
#define SYMBOLS_NAMES_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_names; /* opaque */

/* The files with names. */
struct object_names_source {
    Elf *main;           /* the program or library */
    Elf *debug;          /* its separate debug file; may be NULL or main */
    Dwarf *dwarf;        /* of debug, or of main; NULL: no debug information */
    int64_t debug_shift; /* added to an address of main for the one in debug */
    int64_t dwarf_shift; /* ... and for the one in dwarf */
};

/* A function at an address: itself, or inlined into the next one. */
struct object_name {
    const char *name; /* linkage name, without version; NULL: unknown */
    const char *file; /* with its directory; NULL: unknown */
    int line, column; /* 0: unknown */
    bool inlined;
    uint64_t start; /* of a function that is not inlined; 0: unknown */
};

/**
 * @param source  its files are borrowed
 *
 * @return NULL: no memory
 */
struct object_names *object_names_open(const struct object_names_source *source);

/**
 * Visits the functions at an address, from the innermost inlined one to the one that contains them
 * all. That one is always visited, with or without a name.
 *
 * @param address  of the main file, as linked
 * @param visit    its argument and strings are valid during the call
 *
 * @return false: no memory for a table; the other facts were visited
 */
bool object_names_find(struct object_names *names, uint64_t address,
                       void (*visit)(void *user, const struct object_name *name), void *user);

void object_names_close(struct object_names *names);

#endif
