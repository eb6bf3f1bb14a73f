/*
 * The code of an ELF file.
 *
 * Linkers that drop a function keep its debug information, with addresses from 0 or 1 on. It would
 * hide the function that really is at such an address.
 */
#ifndef SYMBOLS_CODE_H
#define SYMBOLS_CODE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/spans.h"

struct object_code {
    struct object_spans spans; /* empty: unknown, code may be anywhere */
    uint64_t shift;
};

/**
 * Collects the executable segments.
 *
 * @param shift  added to addresses of elf
 *
 * @return false: no memory
 */
bool object_code_make(struct object_code *out, Elf *elf, uint64_t shift);

bool object_code_has(const struct object_code *code, uint64_t address);

void object_code_free(struct object_code *code);

#endif
