/*
 * The places where one file of a module is looked for: by its path, by its build-id, in folders that
 * somebody named, and on a server. Each tells the trail what it said.
 */
#ifndef OBJECT_SEARCH_H
#define OBJECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "object/candidate.h"
#include "object/module.h"

#define OBJECT_DEBUG_FOLDER "/usr/lib/debug"

/* One file that is looked for. */
struct object_search {
    const struct object_module *module;
    const struct object_places *places;
    struct object_wanted wanted;
    struct object_opened *out;
    struct object_trail *trail;
};

/* All of these say whether the file was found. */
bool object_search_path(struct object_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool object_search_debug_folder(struct object_search *search);

/* @param names  base names to look for, after the build-id's own */
bool object_search_symbol_paths(struct object_search *search, const char *const *names,
                                size_t count);

bool object_search_server(struct object_search *search);

/* Whether a module is a file: the kernel's is none. */
bool object_search_has_file(const struct object_search *search);

/* What the module's process has as /: "" is ours. */
const char *object_search_root(const struct object_search *search);

/* The bytes of a path up to its last slash; 0: it has none. */
int object_folder_length(const char *path);

const char *object_base_name(const char *path);

#endif
