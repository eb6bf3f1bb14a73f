/* Base64 by its standard alphabet, with padding: RFC 4648, 4. */
#ifndef UTIL_BASE64_H
#define UTIL_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of a text that encodes so many bytes. */
#define BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4)

/* @return characters of the alphabet at the start of a text, with `=` behind them */
size_t base64_length(const char *text, size_t size);

/**
 * Decodes a text.
 *
 * @param size   from base64_length()
 * @param out    has room for size / 4 * 3 + 2 bytes
 * @param bytes  bytes written, up to the fault
 *
 * @return NULL, or the cause
 */
const char *base64_read(const char *text, size_t size, uint8_t *out, size_t *bytes);

/* Writes bytes as text, without a newline. */
void base64_print(FILE *to, const uint8_t *data, size_t size);

#endif
