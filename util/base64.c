#include "util/base64.h"

#include "util/base64_group.h"

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

size_t base64_length(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && value_of(text[n]) >= 0)
        n++;
    for (size_t i = 0; i < 2 && n < size && text[n] == '='; i++)
        n++;
    return n;
}

const char *base64_read(const char *text, size_t size, uint8_t *out, size_t *bytes)
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
    /* Unused bits of the last letter must be 0. */
    if ((letters % 4 == 2 && (bits & 0xf) != 0) || (letters % 4 == 3 && (bits & 0x3) != 0))
        return "base64 with bits behind its end";
    return NULL;
}

void base64_print(FILE *to, const uint8_t *data, size_t size)
{
    char group[SFB_BASE64_GROUP];

    for (size_t i = 0; i < size; i += 3) {
        sfb_base64_group(group, data + i, size - i);
        fwrite(group, 1, sizeof group, to);
    }
}
