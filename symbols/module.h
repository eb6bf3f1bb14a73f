/* A module to find files for, and the places to search. */
#ifndef SYMBOLS_MODULE_H
#define SYMBOLS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "symbols/build_id.h"
#include "symbols/debuginfod.h"
#include "symbols/symbol_path.h"

/* The facts about a module before its files are found. */
struct object_module {
    const char *path;  /* as in the process; without a slash: not a file */
    const char *opens; /* another path to the same file, tried first: "/proc/12/map_files/..." */
    const char *root;  /* the process's /: "/proc/12/root"; NULL: ours */
    bool gone;         /* the path leads to another file, or nowhere: not used without a build-id */
    struct object_build_id id;
    void *image; /* its bytes, if it is not a file (the vDSO); may be NULL */
    size_t image_size;
};

/* Places to search, beside the standard ones. */
struct object_places {
    struct object_symbol_path *const *paths;
    size_t path_count;
    struct object_debuginfod *debuginfod; /* NULL: no query */
};

#endif
