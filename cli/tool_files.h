/* Files that commands read and write whole, with complaints. */
#ifndef CLI_TOOL_FILES_H
#define CLI_TOOL_FILES_H

#include <stdbool.h>

#include "util/input.h"
#include "util/output.h"

/*
 * Reads all of a file.
 *
 * @param path  "-" is stdin; borrowed as the name
 * @return false after a complaint: the file cannot be read, or is too large
 */
bool tool_read(struct input *out, const char *path);

/* Replaces hex text by the bytes it means. @return false after a complaint, which has the offset */
bool tool_read_hex(struct input *input);

/* As output_write(). What was printed before goes to stdout first. @return false after a complaint */
bool tool_write(const char *path, unsigned mode, const struct output_part *parts, size_t count);

#endif
