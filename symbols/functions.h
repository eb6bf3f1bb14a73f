/*
 * The functions of an ELF file by its symbol tables: .symtab, .dynsym, and the .symtab in
 * .gnu_debugdata (MiniDebugInfo).
 *
 * Functions are STT_FUNC, STT_GNU_IFUNC, and untyped symbols in executable sections: labels of
 * assembly. A function without a size extends to the next symbol or its section's end, and yields
 * to any function with a size. Of overlapping functions the one that starts last counts. Order of
 * several names for one start:
 *
 *     1. one with a size, then a function rather than a label
 *     2. global, then weak, then local, as libdwfl
 *     3. the larger size, as llvm-symbolizer
 *     4. fewer leading underscores, as perf: "malloc" rather than "__libc_malloc"
 *     5. that of the first table, in the order above, a debug file's before them; in one table the
 *        last, as llvm-symbolizer
 */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/spans.h"

enum { OBJECT_SYMBOL_TABLES = 4 };

/* Zeroed: empty. */
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
    char *unversioned; /* the last versioned name, without its version */
};

struct object_function {
    const char *name; /* without version; valid until the next call */
    uint64_t start;
    bool label; /* an untyped symbol */
};

/**
 * Reads and sorts the symbols of a file.
 *
 * @param main   borrowed, as debug is
 * @param debug  its separate debug file; may be NULL or main
 * @param shift  added to an address of main for the one in debug
 *
 * @return false: no memory, and no functions
 */
bool object_functions_make(struct object_functions *out, Elf *main, Elf *debug, uint64_t shift);

/**
 * @return whether a function is at the address, as linked. Cost: logarithmic.
 */
bool object_functions_find(struct object_functions *functions, uint64_t address,
                           struct object_function *out);

void object_functions_free(struct object_functions *functions);

#endif
