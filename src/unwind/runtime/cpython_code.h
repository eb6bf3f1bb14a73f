/* Names, files and lines of Python code. */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_CODE_H
#define SFB_UNWIND_RUNTIME_CPYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/runtime/cpython.h"

/* What identifies a code object together with its address, which is used again. */
struct sfb_cpython_code {
    uint64_t name, file, lines; /* addresses of its strings, and of its table of lines */
    uint32_t first_line;
};

/* @return false: it is no code object, or unreadable */
bool sfb_cpython_code(struct sfb_cpython_code *out, const struct sfb_cpython *cpython,
                      struct sfb_memory *memory, uint64_t code);

/*
 * Copies a string as UTF-8, cut off between two characters if it does not fit. What UTF-8 cannot have is U+FFFD.
 *
 * @param room  for it and a zero, at least 1
 * @return bytes; 0: unreadable, no string, or empty
 */
size_t sfb_cpython_text(char *out, size_t room, const struct sfb_cpython *cpython,
                        struct sfb_memory *memory, uint64_t string);

/*
 * Copies the table of lines.
 *
 * @return its bytes; more than room: nothing was copied; 0: unreadable or empty
 */
size_t sfb_cpython_lines(uint8_t *out, size_t room, struct sfb_memory *memory, uint64_t lines);

/*
 * Finds the line of an instruction: Objects/locations.md of CPython has the format.
 *
 * @return the line; 0: no line, or a malformed table
 */
uint32_t sfb_cpython_line(const uint8_t *table, size_t size, uint32_t first_line,
                          uint32_t instruction);

#endif
