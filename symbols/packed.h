/*
 * The stated unpacked size of packed debug sections (SHF_COMPRESSED, .zdebug_*). libelf allocates
 * it before reading a byte, and a megabyte may claim a gigabyte.
 */
#ifndef SYMBOLS_PACKED_H
#define SYMBOLS_PACKED_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

enum { OBJECT_PACKED_NAME = 64, OBJECT_PACKED_RATIO = 32 };

#define OBJECT_PACKED_MAX ((uint64_t)64 << 20)

/* The section with the largest claim. */
struct object_packed {
    char name[OBJECT_PACKED_NAME];
    uint64_t packed, unpacked;
};

/* Sets the limit of unpacked bytes for the whole program; default OBJECT_PACKED_MAX. */
void object_packed_allow(uint64_t bytes);

/*
 * Whether the packed sections of a file that claim more than 32 times their size exceed the limit
 * together.
 *
 * @param largest  written if so
 */
bool object_packed_is_too_much(Elf *elf, struct object_packed *largest);

/* The cause, as text. */
#define OBJECT_PACKED_CAUSE "its section %s of %lu bytes unpacks to %lu: --max-unpacked allows it"

/* Whether a section is packed by zstd, which libelf reads from 0.189 on, if it was built so. */
bool object_packed_by_zstd(Elf *elf);

#endif
