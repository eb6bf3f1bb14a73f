#include "object/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t object_base64_length(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && value_of(text[n]) >= 0)
        n++;
    for (size_t i = 0; i < 2 && n < size && text[n] == '='; i++)
        n++;
    return n;
}

const char *object_base64_read(const char *text, size_t size, uint8_t *out, size_t *bytes)
{
    uint32_t bits = 0;
    size_t letters = 0, n = 0;

    for (; letters < size && text[letters] != '='; letters++) {
        bits = bits << 6 | (uint32_t)value_of(text[letters]);
        if (letters % 4 != 0)
            out[n++] = (uint8_t)(bits >> (6 - letters % 4 * 2));
    }
    *bytes = n;
    if (letters % 4 == 1 || size % 4 != 0)
        return "base64 that is cut off";
    /* Bits of the last letter that no byte has. */
    if ((letters % 4 == 2 && (bits & 0xf) != 0) || (letters % 4 == 3 && (bits & 0x3) != 0))
        return "base64 with bits behind its end";
    return NULL;
}

void object_base64_print(FILE *to, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)data[i] << 16 |
                              (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                              (left > 2 ? data[i + 2] : 0);

        putc(alphabet[bits >> 18], to);
        putc(alphabet[bits >> 12 & 63], to);
        putc(left > 1 ? alphabet[bits >> 6 & 63] : '=', to);
        putc(left > 2 ? alphabet[bits & 63] : '=', to);
    }
}
