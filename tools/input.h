/*
 * Input: a whole file, or all of stdin, in memory.
 *
 * Files are read, not mapped: a file that shrinks while it is mapped ends the program with SIGBUS.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A debug build of a compiler is 3 GiB; what has no size beforehand may also have no end. */
#define INPUT_FILE_SIZE_MAX   ((size_t)4 << 30)
#define INPUT_STREAM_SIZE_MAX ((size_t)256 << 20)

struct input {
    const char *name; /* for complaints */
    uint8_t *data;    /* size bytes and not one more, so that a sanitizer sees each overrun */
    size_t size;
};

/*
 * Reads all of a file.
 *
 * @param path  "-" is stdin; borrowed as the name
 * @return false after a complaint: the file cannot be read, or is larger than the limits above
 */
bool input_read(struct input *out, const char *path);

/*
 * The same without a complaint.
 *
 * @param out  written whatever is returned: of a file that cannot be read its name
 * @return NULL, or why it cannot be read
 */
const char *input_open(struct input *out, const char *path);

/* Replaces hex text by the bytes it means. @return false after a complaint, which has the offset */
bool input_from_hex(struct input *input);

void input_free(struct input *input);

#endif
