/*
 * Packed sections of debug information (SHF_COMPRESSED, .zdebug_*): what they say they unpack to. libelf allocates that
 * before it looks at a byte, and a megabyte may say that it is a gigabyte.
 */
#ifndef OBJECT_PACKED_H
#define OBJECT_PACKED_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

enum { OBJECT_PACKED_NAME = 64, OBJECT_PACKED_RATIO = 32 };

#define OBJECT_PACKED_MAX ((uint64_t)64 << 20)

/* The section that says most. */
struct object_packed {
    char name[OBJECT_PACKED_NAME];
    uint64_t packed, unpacked;
};

/* Up to so many bytes may sections unpack to, however small they are. Of the whole program; at first OBJECT_PACKED_MAX. */
void object_packed_allow(uint64_t bytes);

/*
 * Whether the packed sections of a file that unpack to more than 32 times their size are more than what is allowed, all
 * together.
 *
 * @param largest  written if so
 */
bool object_packed_is_too_much(Elf *elf, struct object_packed *largest);

/* The cause, for a reader. */
#define OBJECT_PACKED_CAUSE "its section %s of %lu bytes unpacks to %lu: --max-unpacked allows it"

#endif
