/*
 * Functions and source lines of the addresses of an ELF file.
 *
 * Tables are made when they are first needed, of what is asked for only: one of the functions in the
 * symbol tables, one of units, and of each unit that an address is in its functions and lines. Then
 * an address costs microseconds.
 */
#ifndef OBJECT_NAMES_H
#define OBJECT_NAMES_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_names; /* opaque */

/* What the names are taken from. */
struct object_names_source {
    Elf *main;           /* the program or library */
    Elf *debug;          /* its separate debug file; NULL, or main: there is none */
    Dwarf *dwarf;        /* of debug, or of main; NULL: there is no debug information */
    int64_t debug_shift; /* what to add to an address of main for the one in debug */
    int64_t dwarf_shift; /* and for the one in dwarf */
};

/* One function at an address: itself, or one that was inlined into the next. */
struct object_name {
    const char *name; /* linkage name, without version; NULL: not known */
    const char *file; /* with its directory, as debug information has it; NULL: not known */
    int line, column; /* 0: not known */
    bool inlined;
    uint64_t start; /* of a function that is not inlined; 0: not known */
};

/**
 * @param source  its files are borrowed
 *
 * @return NULL: no memory
 */
struct object_names *object_names_open(const struct object_names_source *source);

/**
 * Says which functions are at an address, from the innermost inlined one to the one that contains
 * them all. That one always comes, whatever is known of it.
 *
 * @param address  of the main file, as linked
 * @param visit    its argument and the strings in it are good for the call only
 *
 * @return false: no memory for a table; what is known without it was said
 */
bool object_names_find(struct object_names *names, uint64_t address,
                       void (*visit)(void *user, const struct object_name *name), void *user);

void object_names_close(struct object_names *names);

#endif
