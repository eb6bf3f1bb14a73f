/* How far from its own addresses a file was loaded. */
#ifndef OBJECT_LOAD_BIAS_H
#define OBJECT_LOAD_BIAS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * By a mapping of the file: what of the file lies at an address.
 *
 * @param offset      in the file, of what is at start
 * @param executable  the mapping is; of two segments in one page it tells which is meant
 * @return false: no segment of the file can be there
 */
bool object_bias_of_mapping(Elf *elf, uint64_t start, uint64_t offset, bool executable,
                            uint64_t *out);

/*
 * By where its first segment begins, which is known of a module of a crash report. It is enough to
 * have the debug file, whose offsets mean nothing.
 */
bool object_bias_of_start(Elf *elf, uint64_t start, uint64_t *out);

#endif
