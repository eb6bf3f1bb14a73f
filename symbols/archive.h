/* The members of an archive, with their offsets. */
#ifndef SYMBOLS_ARCHIVE_H
#define SYMBOLS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_archive_kind {
    OBJECT_NO_ARCHIVE,
    OBJECT_ARCHIVE,
    OBJECT_THIN_ARCHIVE /* its members are separate files */
};

enum object_archive_kind object_archive_kind(const uint8_t *image, size_t size);

struct object_member {
    const char *name;
    size_t at, size; /* offset and bytes in the archive */
};

/* Whether an OBJECT_ARCHIVE has no members, but perhaps a table of symbols or of names. */
bool object_archive_is_empty(const uint8_t *image, size_t size);

/**
 * Visits the ELF files among the members, in order.
 *
 * @param image  an OBJECT_ARCHIVE, whole
 * @param visit  called for each; the member is valid during the call
 * @param any    written: whether the archive has any member
 *
 * @return false: the archive is unreadable
 */
bool object_archive_members(const uint8_t *image, size_t size,
                            void (*visit)(void *data, const struct object_member *member),
                            void *data, bool *any);

#endif
