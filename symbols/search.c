#include "symbols/search.h"
#include "util/base_name.h"
#include "util/counted.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of one base name that are opened at most. */
enum { SAME_NAME_MAX = 64 };

const char *object_search_root(const struct object_search *s)
{
    return s->module->root ? s->module->root : "";
}

bool object_search_path(struct object_search *s, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof path) {
        object_trail_add(s->trail, s->wanted.part, path, OBJECT_REFUSED, "the path is too long");
        return false;
    }
    return object_candidate_open(s->out, path, &s->wanted, s->trail);
}

/* The folder of a path, with its last slash. @return its length; 0: without a folder */
int object_folder_length(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? (int)(slash + 1 - path) : 0;
}

bool object_search_has_file(const struct object_search *s)
{
    return s->module->path && strchr(s->module->path, '/') != NULL;
}

bool object_search_debug_folder(struct object_search *s)
{
    char name[OBJECT_BUILD_ID_PATH];

    if (!object_build_id_path(name, &s->wanted.id, s->wanted.part == OBJECT_FILE ? "" : ".debug"))
        return false;
    return (s->module->root &&
            object_search_path(s, "%s" OBJECT_DEBUG_FOLDER "/%s", object_search_root(s), name)) ||
           object_search_path(s, OBJECT_DEBUG_FOLDER "/%s", name);
}

/* The files of a base name in a folder; without a build-id it must be unique. */
static bool by_base_name(struct object_search *s, struct object_symbol_path *folder,
                         const char *name)
{
    const char *const *files = NULL;
    const char *cause = NULL;
    const size_t count = name[0] ? object_symbol_path_find(folder, name, &files, &cause) : 0;

    if (cause)
        object_trail_add(s->trail, s->wanted.part, object_symbol_path_folder(folder), OBJECT_PASSED,
                         "searching it for '%s': %s", name, cause);
    if (count > 1 && s->wanted.id.size == 0 && !s->wanted.has_crc) {
        object_trail_add(s->trail, s->wanted.part, object_symbol_path_folder(folder), OBJECT_PASSED,
                         "%s called '%s', and no build-id tells which",
                         counted(count, "files are").text, name);
        return false;
    }
    for (size_t i = 0; i < count && i < SAME_NAME_MAX; i++)
        if (object_candidate_open(s->out, files[i], &s->wanted, s->trail))
            return true;
    if (count > SAME_NAME_MAX)
        object_trail_add(s->trail, s->wanted.part, object_symbol_path_folder(folder), OBJECT_PASSED,
                         "%s called '%s'", counted(count - SAME_NAME_MAX, "more files").text, name);
    return false;
}

/* @param names  base names to find, after the build-id's own */
static bool in_symbol_path(struct object_search *s, struct object_symbol_path *folder,
                           const char *const *names, size_t count)
{
    const char *top = object_symbol_path_folder(folder), *path = s->module->path;
    const bool file = s->wanted.part == OBJECT_FILE;
    char name[OBJECT_BUILD_ID_PATH];

    if (object_build_id_path(name, &s->wanted.id, file ? "" : ".debug") &&
        object_search_path(s, "%s/%s", top, name))
        return true;
    if (s->wanted.part != OBJECT_ALT && object_search_has_file(s) && path[0] == '/' &&
        !strstr(path, "/../") && object_search_path(s, "%s%s%s", top, path, file ? "" : ".debug"))
        return true;
    /* An unpacked package has a .build-id folder of its own somewhere. */
    if (!file && object_build_id_path(name, &s->wanted.id, ".debug") &&
        by_base_name(s, folder, sfb_base_name(name)))
        return true;
    for (size_t i = 0; i < count; i++)
        if (by_base_name(s, folder, names[i]))
            return true;
    return false;
}

bool object_search_symbol_paths(struct object_search *s, const char *const *names, size_t count)
{
    for (size_t i = 0; i < s->places->path_count; i++)
        if (in_symbol_path(s, s->places->paths[i], names, count))
            return true;
    return false;
}

bool object_search_server(struct object_search *s)
{
    const char *cause = NULL;
    char *path;
    bool found;

    if (!s->places->debuginfod || s->wanted.id.size == 0)
        return false;
    path = object_debuginfod_find(s->places->debuginfod, s->wanted.part, &s->wanted.id, &cause);
    if (!path) {
        object_trail_add(s->trail, s->wanted.part, "debuginfod", OBJECT_ABSENT, "%s", cause);
        return false;
    }
    s->wanted.has_crc = false;
    found = object_candidate_open(s->out, path, &s->wanted, s->trail);
    free(path);
    return found;
}
