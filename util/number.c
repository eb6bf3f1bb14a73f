#include "util/number.h"

#include <stdlib.h>
#include <string.h>

#include "util/hex.h"

const char *number_parse(const char *text, size_t size, uint64_t *out)
{
    unsigned base = 10;
    uint64_t v = 0;

    if (size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text += 2;
        size -= 2;
    }
    if (size == 0)
        return "a number is missing";
    for (size_t i = 0; i < size; i++) {
        const int digit = hex_digit(text[i]);

        if (digit < 0 || (unsigned)digit >= base)
            return "not a number (decimal, or hexadecimal after 0x)";
        if (v > (UINT64_MAX - (unsigned)digit) / base)
            return "a number wider than 64 bits";
        v = v * base + (unsigned)digit;
    }
    *out = v;
    return NULL;
}

bool number_of_argument(const char *text, uint64_t *out)
{
    return number_parse(text, strlen(text), out) == NULL;
}

bool number_of_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "kMG";
    const size_t length = strlen(text);
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    const unsigned shift = unit && *unit ? 10U * (unsigned)(unit - units + 1) : 0;
    uint64_t bytes;

    if (number_parse(text, length - (shift > 0), &bytes) || bytes > UINT64_MAX >> shift)
        return false;
    *out = bytes << shift;
    return true;
}

bool seconds_of_argument(const char *text, uint64_t *ns)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 1e-9) || value > 1e9)
        return false;
    *ns = (uint64_t)(value * 1e9);
    return true;
}
