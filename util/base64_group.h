/*
 * Base64 as it is written, four characters at a time: RFC 4648, 4. base64.h reads it.
 *
 * Threads, signals: safe. Inline, for agents, which link no library of this folder.
 */
#ifndef UTIL_BASE64_GROUP_H
#define UTIL_BASE64_GROUP_H

#include <stddef.h>
#include <stdint.h>

enum { SFB_BASE64_GROUP = 4 };

/* Writes three bytes, or the one or two that are left, with padding. */
static inline void sfb_base64_group(char out[SFB_BASE64_GROUP], const uint8_t *bytes, size_t left)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)bytes[0] << 16 | (left > 1 ? (uint32_t)bytes[1] << 8 : 0) |
                          (left > 2 ? bytes[2] : 0);

    out[0] = letters[bits >> 18];
    out[1] = letters[bits >> 12 & 63];
    out[2] = left > 1 ? letters[bits >> 6 & 63] : '=';
    out[3] = left > 2 ? letters[bits & 63] : '=';
}

#endif
