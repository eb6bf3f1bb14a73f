#include "hex.h"

#include <string.h>

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int is_space(uint8_t c)
{
    return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL;
}

const char *hex_to_bytes(uint8_t *text, size_t *size, size_t *offset)
{
    size_t bytes = 0;

    for (size_t i = 0; i < *size; i++) {
        int high, low;

        if (is_space(text[i]))
            continue;
        *offset = i;
        high = digit(text[i]);
        if (high < 0)
            return "not a hexadecimal digit";
        if (++i == *size || is_space(text[i]))
            return "a byte needs two hexadecimal digits";
        *offset = i;
        low = digit(text[i]);
        if (low < 0)
            return "not a hexadecimal digit";
        text[bytes++] = (uint8_t)(high << 4 | low);
    }
    *size = bytes;
    return NULL;
}

void hex_print(FILE *to, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(to, "%02x", data[i]);
    putc('\n', to);
}
