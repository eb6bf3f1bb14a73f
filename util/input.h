/*
 * Input: a whole file, or all of stdin, in memory.
 *
 * Files are read, not mapped: a file that shrinks while it is mapped ends the program with SIGBUS.
 */
#ifndef UTIL_INPUT_H
#define UTIL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A debug build of a compiler is 3 GiB; what has no size beforehand may also have no end. */
#define INPUT_FILE_SIZE_MAX   ((size_t)4 << 30)
#define INPUT_STREAM_SIZE_MAX ((size_t)256 << 20)

struct input {
    const char *name; /* for messages */
    uint8_t *data;    /* size bytes and not one more, so that a sanitizer sees each overrun */
    size_t size;
};

/*
 * Reads all of a file.
 *
 * @param out   written whatever is returned: of a file that cannot be read its name
 * @param path  "-" is stdin; borrowed as the name
 * @return NULL, or the cause: the file cannot be read, or is larger than the limits above
 */
const char *input_open(struct input *out, const char *path);

/*
 * Replaces hex text by the bytes it means.
 *
 * @param offset  written on failure: in the text
 * @return NULL, or the cause
 */
const char *input_from_hex(struct input *input, size_t *offset);

void input_free(struct input *input);

#endif
