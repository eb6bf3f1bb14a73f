/* Which object of data an address of an ELF file is in, by its symbol tables. */
#ifndef SYMBOLS_DATA_OBJECT_H
#define SYMBOLS_DATA_OBJECT_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_data {
    const char *name; /* of the file's symbol table: as long as the file is open */
    uint64_t start, size;
};

/*
 * Finds the smallest object that an address is in. Of equal ones a global name comes first.
 *
 * @param main     may be NULL, as debug
 * @param debug    its separate debug file
 * @param shift    added to an address of main for the one in debug
 * @param address  of the main file, as linked
 * @return false: no object with a name is there
 *
 * Cost: both tables are read to their ends.
 */
bool object_data_find(struct object_data *out, Elf *main, Elf *debug, uint64_t shift,
                      uint64_t address);

#endif
