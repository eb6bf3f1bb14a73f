#include "util/foreign.h"

#include <stdlib.h>
#include <string.h>

/* [first, last] */
static const struct {
    uint32_t first, last;
} unprintables[] = {
    { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x061c, 0x061c },
    { 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
};

/* Decodes one character. @return its bytes; 0: not UTF-8, "Unicode 15.0", table 3-7 */
static size_t decode(const uint8_t *at, size_t size, uint32_t *out)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t length = at[0] < 0x80   ? 1
                          : at[0] < 0xc0 ? 0
                          : at[0] < 0xe0 ? 2
                          : at[0] < 0xf0 ? 3
                          : at[0] < 0xf8 ? 4
                                         : 0;
    uint32_t value;

    if (length == 0 || length > size)
        return 0;
    value = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *out = value;
    return length;
}

size_t foreign_character(const char *text, size_t size, uint32_t *value)
{
    const size_t length = decode((const uint8_t *)text, size, value);

    if (length > 0)
        return length;
    *value = FOREIGN_NO_UTF8;
    return 1;
}

bool foreign_is_unprintable(uint32_t value)
{
    for (size_t i = 0; i < sizeof unprintables / sizeof *unprintables; i++)
        if (value >= unprintables[i].first && value <= unprintables[i].last)
            return true;
    return value == FOREIGN_NO_UTF8;
}

size_t foreign_escape(char *out, size_t room, const char *text, size_t size, enum foreign_kind kind)
{
    size_t n = 0, length;

    for (size_t i = 0; i < size; i += length) {
        uint32_t value;
        bool escaped;

        length = foreign_character(text + i, size - i, &value);
        escaped = foreign_is_unprintable(value) || (value == '\\' && kind == FOREIGN_NAME);
        if ((escaped ? FOREIGN_ESCAPE * length : length) >= room - n)
            break;
        for (size_t k = i; k < i + length; k++) {
            const uint8_t byte = (uint8_t)text[k];

            if (escaped) {
                out[n++] = '\\';
                out[n++] = (char)('0' + (byte >> 6));
                out[n++] = (char)('0' + (byte >> 3 & 7));
                out[n++] = (char)('0' + (byte & 7));
            } else {
                out[n++] = text[k];
            }
        }
    }
    out[n] = '\0';
    return n;
}

char *foreign_copy(const char *text, enum foreign_kind kind)
{
    const size_t size = strlen(text);
    char *out = size < SIZE_MAX / FOREIGN_ESCAPE ? malloc(FOREIGN_ESCAPE * size + 1) : NULL;

    if (out)
        foreign_escape(out, FOREIGN_ESCAPE * size + 1, text, size, kind);
    return out;
}

/* Bytes at the start of a text without an escape: most names are such. */
static size_t plain_size(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '\\')
        n++;
    return n;
}

size_t foreign_print(FILE *to, const char *text)
{
    const size_t size = strlen(text);
    size_t written = 0, length;

    for (size_t i = 0; i < size; i += length) {
        char escaped[4 * FOREIGN_ESCAPE + 1];
        uint32_t value;
        size_t n;

        length = plain_size(text + i, size - i);
        if (length > 0) {
            written += fwrite(text + i, 1, length, to);
            continue;
        }
        length = foreign_character(text + i, size - i, &value);
        n = foreign_escape(escaped, sizeof escaped, text + i, length, FOREIGN_NAME);
        written += fwrite(escaped, 1, n, to);
    }
    return written;
}
