#include "profiler/report/model/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of a pattern up to its next `*` or `$`. */
static size_t literal_size(const char *pattern)
{
    return strcspn(pattern, "*$");
}

/* compiler-rt's TemplateMatch(), oddities included: of an empty name nothing is found, and behind `$` nothing is looked at. */
bool report_pattern_is_in(const char *pattern, const char *text)
{
    bool at_start = pattern[0] == '^', any = false;

    if (text[0] == '\0')
        return false;
    pattern += at_start;
    while (*pattern) {
        const size_t size = literal_size(pattern);
        const char *found;

        if (*pattern == '*') {
            pattern++;
            at_start = false;
            any = true;
            continue;
        }
        if (*pattern == '$')
            return *text == '\0' || any;
        if (*text == '\0')
            return false;
        found = memmem(text, strlen(text), pattern, size);
        if (!found || (at_start && found != text))
            return false;
        text = found + size;
        pattern += size;
        at_start = any = false;
    }
    return true;
}

/* --- Files ------------------------------------------------------------------------------------- */

bool report_pattern_next(struct report_pattern_lines *lines, struct report_pattern_line *out)
{
    while (*lines->text) {
        const char *from = lines->text + strspn(lines->text, " \t"),
                   *end = lines->text + strcspn(lines->text, "\n");

        lines->text = *end ? end + 1 : end;
        lines->line++;
        while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
            end--;
        if (from >= end || *from == '#')
            continue;
        *out = (struct report_pattern_line){ from, (size_t)(end - from) };
        return true;
    }
    return false;
}

char *report_pattern_of(const struct report_pattern_line *line, const char *kind)
{
    const size_t size = strlen(kind);

    errno = 0;
    if (line->size < size || strncmp(line->at, kind, size) != 0)
        return NULL;
    return strndup(line->at + size, line->size - size);
}

char *report_pattern_file(const char *path)
{
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;

    if (!from)
        return NULL;
    errno = 0;
    if (getdelim(&text, &room, '\0', from) < 0) {
        free(text);
        text = feof(from) ? strdup("") : NULL;
    }
    fclose(from);
    return text;
}
