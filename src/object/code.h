/*
 * Where an ELF file has code.
 *
 * Linkers that leave a function out leave its debug information in, with addresses from 0 or 1 on:
 * there it would hide the function that really is at such an address.
 */
#ifndef OBJECT_CODE_H
#define OBJECT_CODE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/spans.h"

struct object_code {
    struct object_spans spans; /* none: not known, then code may be anywhere */
    uint64_t shift;
};

/**
 * Takes the executable segments.
 *
 * @param shift  what to add to an address of elf for one that is asked for
 *
 * @return false: no memory
 */
bool object_code_make(struct object_code *out, Elf *elf, uint64_t shift);

bool object_code_has(const struct object_code *code, uint64_t address);

void object_code_free(struct object_code *code);

#endif
