/*
 * The functions of an ELF file by its symbol tables: .symtab, .dynsym, and the .symtab in
 * .gnu_debugdata (MiniDebugInfo).
 *
 * What counts as a function: STT_FUNC and STT_GNU_IFUNC, and symbols without type in executable
 * sections, which are labels of assembly. A function without size goes up to the next symbol or the
 * end of its section, and counts where no function with a size does. Of several functions that
 * contain an address the one that starts last counts. Of several names for one start:
 *
 *     1. one with a size, then a function rather than a label
 *     2. global, then weak, then local, as libdwfl has it
 *     3. the larger size, as llvm-symbolizer has it
 *     4. fewer leading underscores, as perf has it: "malloc" rather than "__libc_malloc"
 *     5. that of the first table, in the order above, a debug file's before them; in one table the
 *        last, as llvm-symbolizer has it
 */
#ifndef OBJECT_FUNCTIONS_H
#define OBJECT_FUNCTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/spans.h"

enum { OBJECT_SYMBOL_TABLES = 4 };

/* Zeroed: no functions. */
struct object_functions {
    struct object_symbol *symbols; /* by start, each start once */
    struct object_spans spans;     /* of symbols */
    struct object_strings {
        Elf *elf;
        size_t section;
    } strings[OBJECT_SYMBOL_TABLES];
    size_t table_count;
    Elf *minidebug;
    void *minidebug_bytes;
    char *unversioned; /* the last name that had a version */
};

struct object_function {
    const char *name; /* without version; valid until the next call */
    uint64_t start;
    bool label; /* no function: a symbol without type */
};

/**
 * Reads and sorts the symbols of a file.
 *
 * @param main   borrowed, as debug is
 * @param debug  its separate debug file; NULL, or main: there is none
 * @param shift  what to add to an address of main for the one in debug
 *
 * @return false: no memory, and there are no functions
 */
bool object_functions_make(struct object_functions *out, Elf *main, Elf *debug, uint64_t shift);

/** @return whether a function is at the address, as linked. Cost: logarithmic. */
bool object_functions_find(struct object_functions *functions, uint64_t address,
                           struct object_function *out);

void object_functions_free(struct object_functions *functions);

#endif
