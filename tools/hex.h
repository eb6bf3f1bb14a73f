/* Bytes as hexadecimal text: two digits a byte, white space anywhere between bytes. */
#ifndef HEX_H
#define HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Turns hex text into bytes, in place: they never need more room than their text.
 *
 * @param size    of the text; of the bytes afterwards
 * @param offset  of the character that is wrong; written on failure only
 * @return NULL, or the cause
 */
const char *hex_to_bytes(uint8_t *text, size_t *size, size_t *offset);

/* Writes bytes as one line of hex text. */
void hex_print(FILE *to, const uint8_t *data, size_t size);

#endif
