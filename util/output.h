/*
 * Output: a file of bytes, whole or not at all.
 *
 * No reader sees half of it, what stood there before is lost only to something complete, and a program
 * that runs from there goes on running. A signal that ends this program leaves nothing behind;
 * SIGKILL leaves OUT.XXXXXX where the file system has no O_TMPFILE.
 */
#ifndef UTIL_OUTPUT_H
#define UTIL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/reporter.h"

/* Some bytes and where they belong. Between parts there are zeros: a hole, where that is possible.
 */
struct output_part {
    uint64_t offset;
    const uint8_t *data;
    size_t size;
};

/*
 * Writes a file's bytes as they come, from its beginning to its end.
 *
 * @param fd  may be a pipe
 * @return false: errno says why
 */
typedef bool output_filler(void *user, int fd);

/*
 * Opens what exists and is no regular file, for writing: a device, or a pipe that is not another user's.
 *
 * @return -1: *cause says why, or is as it was, and errno says why
 */
int output_open_special(const char *path, const char **cause);

/*
 * Writes parts, which ascend.
 *
 * @param path  "-" is stdout; what exists and is no regular file (a pipe, /dev/null) is written to
 *              as it is, but for a named pipe of another user
 * @param mode  permissions of the file, as chmod() takes them
 * @param reporter  a failure is reported with the name of the file
 * @return false after a report
 */
bool output_write(const char *path, unsigned mode, const struct output_part *parts, size_t count,
                  const struct reporter *reporter);

/*
 * The same of bytes that need not be in memory. Where a file system has no O_TMPFILE, fill may be called a second time, from
 * the beginning.
 */
bool output_write_stream(const char *path, unsigned mode, output_filler *fill, void *user,
                         const struct reporter *reporter);

#endif
