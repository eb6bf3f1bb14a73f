/* A module whose files are looked for, and where. */
#ifndef OBJECT_MODULE_H
#define OBJECT_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "object/build_id.h"
#include "object/debuginfod.h"
#include "object/symbol_path.h"

/* What is known of a module before its files are found. */
struct object_module {
    const char *path;  /* as the process had it; without a slash: it is no file */
    const char *opens; /* another way to the same file, asked first: "/proc/12/map_files/..." */
    const char *root;  /* what the process has as /: "/proc/12/root"; NULL: / */
    bool gone; /* the path leads to another file, if to any: without a build-id it is not used */
    struct object_build_id id;
    void *image; /* its bytes, if it is no file: that of the vDSO; NULL: none */
    size_t image_size;
};

/* Where files are looked for, beside the places that need no name. */
struct object_places {
    struct object_symbol_path *const *paths;
    size_t path_count;
    struct object_debuginfod *debuginfod; /* NULL: nobody is asked */
};

#endif
