/* Base64 by its standard alphabet, with padding: RFC 4648, 4. */
#ifndef OBJECT_BASE64_H
#define OBJECT_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of a text that has so many bytes in it. */
#define OBJECT_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4)

/* @return characters at the start of a text that are of the alphabet, or `=` behind those */
size_t object_base64_length(const char *text, size_t size);

/**
 * Turns a text into bytes.
 *
 * @param size   that of object_base64_length()
 * @param out    has room for size / 4 * 3 + 2 bytes
 * @param bytes  how many were written, up to what is wrong
 *
 * @return NULL, or the cause
 */
const char *object_base64_read(const char *text, size_t size, uint8_t *out, size_t *bytes);

/* Writes bytes as text, without a newline. */
void object_base64_print(FILE *to, const uint8_t *data, size_t size);

#endif
