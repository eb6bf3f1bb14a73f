#include "profiler/report/formats/json.h"

#include <string.h>

#include "util/foreign.h"

/* Bytes at the start of a text that stay as they are: most names have no others. */
static size_t plain_size(const char *text)
{
    size_t n = 0;

    while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '\\' && text[n] != '"')
        n++;
    return n;
}

void report_json_text(FILE *to, const char *text)
{
    size_t left = strlen(text), size;

    putc('"', to);
    for (; left > 0; text += size, left -= size) {
        uint32_t value;

        size = plain_size(text);
        if (size > 0) {
            fwrite(text, 1, size, to);
            continue;
        }
        size = foreign_character(text, left, &value);
        if (value == '"')
            fputs("\\\"", to);
        else if (value == '\\' || foreign_is_unprintable(value))
            for (size_t i = 0; i < size; i++)
                fprintf(to, "\\\\%03o", (unsigned)(uint8_t)text[i]);
        else
            fwrite(text, 1, size, to);
    }
    putc('"', to);
}
