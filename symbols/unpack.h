/*
 * Debug information that is packed by zlib, unpacked by libdeflate: that takes 40 % of libelf's time, and sections that names do not
 * need are left out. Debian packs all debug files; libc's takes libelf 50 ms.
 */
#ifndef SYMBOLS_UNPACK_H
#define SYMBOLS_UNPACK_H

#include <libelf.h>
#include <stddef.h>

struct object_unpacked {
    void *image; /* for free(); NULL: nothing was unpacked */
    Elf *elf;    /* of it */
};

/*
 * Makes an image with the debug sections of a file, for libdw.
 *
 * The sections' claims have been judged before: object_packed_is_too_much().
 *
 * @param out  written. Without an image libdw takes the file itself: nothing is packed, or by other means; its code is split
 *             among files that libdw finds by the path; it is damaged; this build has no libdeflate
 */
void object_unpack(struct object_unpacked *out, Elf *elf);

void object_unpacked_free(struct object_unpacked *unpacked);

#endif
