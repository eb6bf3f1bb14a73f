/*
 * The search for one file of a module: by path, by build-id, in folders that the user named, and on
 * a server. Each result goes to the trail.
 */
#ifndef SYMBOLS_SEARCH_H
#define SYMBOLS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "symbols/candidate.h"
#include "symbols/module.h"

#define OBJECT_DEBUG_FOLDER "/usr/lib/debug"

/* One file to find. */
struct object_search {
    const struct object_module *module;
    const struct object_places *places;
    struct object_wanted wanted;
    struct object_opened *out;
    struct object_trail *trail;
};

/* Each returns whether the file was found. */
bool object_search_path(struct object_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool object_search_debug_folder(struct object_search *search);

/* @param names  base names to find, after the build-id's own */
bool object_search_symbol_paths(struct object_search *search, const char *const *names,
                                size_t count);

bool object_search_server(struct object_search *search);

/* Whether a module is a file, unlike the kernel's. */
bool object_search_has_file(const struct object_search *search);

/* The root of the module's process: "" is ours. */
const char *object_search_root(const struct object_search *search);

/* The bytes of a path up to its last slash; 0: without a folder. */
int object_folder_length(const char *path);

#endif
