/*
 * A tar file in the making: POSIX.1-2001 (pax), which every tar reads. Its contents are borrowed
 * until it is written, in one go.
 */
#ifndef CLI_COLLECT_TAR_H
#define CLI_COLLECT_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/output.h"

struct tar {
    struct output_part *parts;
    size_t count, room;
    void **headers; /* what parts borrow from here */
    size_t header_count, header_room;
    uint64_t size;  /* so far */
    uint64_t mtime; /* of all members, in seconds */
    void *names;    /* of tsearch(): of the members */
    bool failed;    /* no memory; nothing is added any more */
};

/*
 * Adds a file.
 *
 * @param name  relative, without .. in it; whatever bytes it has
 * @param data  borrowed
 * @return false: there is a member of that name, or no memory
 */
bool tar_add_file(struct tar *tar, const char *name, const void *data, size_t size);

/* Adds a symbolic link. @return as above */
bool tar_add_link(struct tar *tar, const char *name, const char *target);

/* Writes it. @return false after a complaint */
bool tar_write(struct tar *tar, const char *path);

void tar_free(struct tar *tar);

#endif
