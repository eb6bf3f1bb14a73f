/* The segment of an ELF file that is code. */
#ifndef OBJECT_CODE_SEGMENT_H
#define OBJECT_CODE_SEGMENT_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct object_code_segment {
    uint64_t start, end; /* whole pages, as linked */
    uint64_t offset;     /* in the file, of what is at start */
};

/* Gives the first one: there is hardly ever another. @return false: there is none */
bool object_code_segment_of(struct object_code_segment *out, Elf *elf);

#endif
