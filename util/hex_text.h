/*
 * Bytes as hexadecimal text, two digits each, in lower case. hex.h reads it.
 *
 * Threads, signals: safe. Inline, for agents, which link no library of this folder.
 */
#ifndef UTIL_HEX_TEXT_H
#define UTIL_HEX_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Writes two digits a byte and a zero: out has room for 2 * size + 1. */
static inline void sfb_hex_text(char *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

#endif
