/* The difference between a file's loaded and linked addresses. */
#ifndef SYMBOLS_LOAD_BIAS_H
#define SYMBOLS_LOAD_BIAS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * By a mapping of the file.
 *
 * @param offset      file offset of start
 * @param executable  the mapping is; it selects one of two segments in a page
 * @return false: no segment of the file fits
 */
bool object_bias_of_mapping(Elf *elf, uint64_t start, uint64_t offset, bool executable,
                            uint64_t *out);

/*
 * By the address of its first segment, known for a module of a crash report. The debug file is
 * enough: its file offsets are not used.
 */
bool object_bias_of_start(Elf *elf, uint64_t start, uint64_t *out);

#endif
