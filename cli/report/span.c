#include "cli/report/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds, "2.5", or with a unit: "2.5s", "300ms", "20us". @return its end; NULL: invalid */
static const char *read_time(const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { "s", 1e9 }, { "", 1e9 } };
    size_t digits = strspn(text, "0123456789");
    double value;

    /* strtod() would take the first point of "1..2", and "inf". */
    if (text[digits] == '.' && text[digits + 1] != '.')
        digits += 1 + strspn(text + digits + 1, "0123456789");
    if (digits == 0 || digits > 30)
        return NULL;
    char number[32];
    memcpy(number, text, digits);
    number[digits] = '\0';
    value = strtod(number, NULL);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t size = strlen(units[i].name);

        if (strncmp(text + digits, units[i].name, size) != 0)
            continue;
        if (value * units[i].ns > 1e18)
            return NULL;
        *out = (uint64_t)llround(value * units[i].ns);
        return text + digits + size;
    }
    return NULL;
}

bool report_span_parse(const char *text, uint64_t *from, uint64_t *to)
{
    const char *at = text;

    *from = *to = 0;
    if (strncmp(at, "..", 2) != 0)
        at = read_time(at, from);
    /* ".." alone is no span. */
    if (!at || strncmp(at, "..", 2) != 0 || (at == text && at[2] == '\0'))
        return false;
    at += 2;
    if (*at == '\0')
        return true;
    at = read_time(at, to);
    return at && *at == '\0' && *to > *from;
}

bool report_time_parse(const char *text, uint64_t *out)
{
    const char *end = read_time(text, out);

    return end && *end == '\0';
}

/* One end: a time, a mark, or none. @return false: invalid */
static bool parse_end(char *text, uint64_t *out, const char **mark)
{
    static const char prefix[] = "mark:";

    *out = 0;
    *mark = NULL;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return text[0] == '\0' || report_time_parse(text, out);
    *mark = text + sizeof prefix - 1;
    return (*mark)[0] != '\0';
}

bool report_span_parse_marks(char *text, uint64_t *from, uint64_t *to, const char **from_mark,
                             const char **to_mark)
{
    char *second = strstr(text, "..mark:");

    /* A mark's own name may have points: the last pair of them is taken, but of two marks what stands before the second. */
    for (char *at = text; !second && (at = strstr(at, "..")) != NULL; at++)
        if (!strstr(at + 1, ".."))
            second = at;
    if (!second)
        return false;
    *second = '\0';
    return parse_end(text, from, from_mark) && parse_end(second + 2, to, to_mark) &&
           (*from_mark || *to_mark);
}
