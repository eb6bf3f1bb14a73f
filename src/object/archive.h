/* The members of an archive, each with where its bytes are. */
#ifndef OBJECT_ARCHIVE_H
#define OBJECT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_archive_kind {
    OBJECT_NO_ARCHIVE,
    OBJECT_ARCHIVE,
    OBJECT_THIN_ARCHIVE /* its members are other files */
};

enum object_archive_kind object_archive_kind(const uint8_t *image, size_t size);

struct object_member {
    const char *name;
    size_t at, size; /* where its bytes are in the archive */
};

/**
 * Gives the ELF files among the members, in their order.
 *
 * @param image  an OBJECT_ARCHIVE, whole
 * @param visit  called for each; the member is good until it returns
 * @param any    written: whether there is a member, of whatever kind
 *
 * @return false: the archive cannot be read
 */
bool object_archive_members(const uint8_t *image, size_t size,
                            void (*visit)(void *data, const struct object_member *member),
                            void *data, bool *any);

#endif
