/* The code segment of an ELF file. */
#ifndef SYMBOLS_CODE_SEGMENT_H
#define SYMBOLS_CODE_SEGMENT_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_code_segment {
    uint64_t start, end; /* whole pages, as linked */
    uint64_t offset;     /* file offset of start */
};

/* Finds the first one; a second one is rare. @return false: missing */
bool object_code_segment_of(struct object_code_segment *out, Elf *elf);

#endif
