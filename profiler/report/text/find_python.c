#include "profiler/report/text/find_python.h"

#include <stdio.h>
#include <string.h>

/* Whether a name is a text, or ends in it behind a separator. */
static bool ends_in(const char *name, const char *text, size_t size, char separator)
{
    const size_t all = strlen(name);

    return size > 0 && all >= size && memcmp(name + all - size, text, size) == 0 &&
           (all == size || name[all - size - 1] == separator);
}

static bool has_suffix(const char *text, size_t size, const char *suffix)
{
    const size_t length = strlen(suffix);

    return size >= length && memcmp(text + size - length, suffix, length) == 0;
}

/* Of the file's path without ".py" and "/__init__". */
static size_t module_size(const char *file)
{
    size_t size = strlen(file);

    if (has_suffix(file, size, ".py"))
        size -= strlen(".py");
    if (has_suffix(file, size, "/__init__"))
        size -= strlen("/__init__");
    return size;
}

bool report_python_is_meant(const char *text, const char *name, const char *file)
{
    const char *colon = strrchr(text, ':');
    char whole[4096];
    int size;

    if (colon && ends_in(file, text, (size_t)(colon - text), '/'))
        return ends_in(name, colon + 1, strlen(colon + 1), '.');
    size = snprintf(whole, sizeof whole, "%.*s", (int)module_size(file), file);
    for (char *at = whole; *at; at++)
        *at = *at == '/' ? '.' : *at;
    if (size < 0 || (size_t)size >= sizeof whole)
        return false;
    snprintf(whole + size, sizeof whole - (size_t)size, ".%s", name);
    return ends_in(whole, text, strlen(text), '.');
}
