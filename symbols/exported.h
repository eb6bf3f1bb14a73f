/* Addresses of names that a file exports. */
#ifndef SYMBOLS_EXPORTED_H
#define SYMBOLS_EXPORTED_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks for names in .dynsym.
 *
 * @param out  an address as linked for each name; 0: not found
 * @return whether all were found
 */
bool object_find_exported(Elf *elf, const char *const *names, size_t count, uint64_t *out);

#endif
