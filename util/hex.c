#include "util/hex.h"

#include <string.h>

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t hex_number(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    size_t n = 0;

    for (int digit; n < size && (digit = hex_digit(text[n])) >= 0; n++) {
        if (value > UINT64_MAX >> 4)
            return 0;
        value = value << 4 | (uint64_t)digit;
    }
    if (n > 0)
        *out = value;
    return n;
}

static int is_space(uint8_t c)
{
    return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL;
}

const char *hex_bytes(uint8_t *text, size_t *size, size_t *offset)
{
    size_t bytes = 0;

    for (size_t i = 0; i < *size; i++) {
        int high, low;

        if (is_space(text[i]))
            continue;
        *offset = i;
        high = hex_digit((char)text[i]);
        if (high < 0)
            return "not a hexadecimal digit";
        if (++i == *size || is_space(text[i]))
            return "a byte needs two hexadecimal digits";
        *offset = i;
        low = hex_digit((char)text[i]);
        if (low < 0)
            return "not a hexadecimal digit";
        text[bytes++] = (uint8_t)(high << 4 | low);
    }
    *size = bytes;
    return NULL;
}
