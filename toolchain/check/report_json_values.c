#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/report_json.h"
#include "util/foreign.h"

json_t *report_json_string(const char *text)
{
    json_t *value = json_string(text);
    char *copy;

    if (value)
        return value;
    copy = strdup(text);
    if (!copy)
        return NULL;
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

json_t *report_json_number(uint64_t value)
{
    return json_integer((json_int_t)(value & INT64_MAX));
}

json_t *report_json_hex(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "0x%" PRIx64, value);
    return json_string(text);
}

/* Of all such characters jansson escapes all but these; none is above U+FFFF. */
static int write_escaped(const char *text, size_t size, void *to)
{
    size_t length;

    for (size_t i = 0; i < size; i += length) {
        uint32_t value;

        length = foreign_character(text + i, size - i, &value);
        if (value >= 0x7f && foreign_is_unprintable(value))
            fprintf(to, "\\u%04" PRIx32, value & 0xffff);
        else
            fwrite(text + i, 1, length, to);
    }
    return 0;
}

bool report_json_put(FILE *to, json_t *value, bool is_inside)
{
    const bool good =
        value && json_dump_callback(value, write_escaped, to,
                                    JSON_ENCODE_ANY | (is_inside ? JSON_EMBED : 0)) == 0;

    json_decref(value);
    return good;
}
