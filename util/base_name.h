/* The name of a file in its path. */
#ifndef UTIL_BASE_NAME_H
#define UTIL_BASE_NAME_H

#include <string.h>

/*
 * @param path  not NULL
 * @return the part behind the last slash; without a slash, the path itself
 *
 * Threads, signals: safe. Inline, for agents and for archives that are installed: they link no library of this folder.
 */
static inline const char *sfb_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

#endif
