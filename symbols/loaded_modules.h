/*
 * Maps addresses to the modules of a recorded process. Modules may overlap; a lookup costs the
 * logarithm of their number.
 */
#ifndef SYMBOLS_LOADED_MODULES_H
#define SYMBOLS_LOADED_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/module.h"

/* A module of a recorded process, from a crash report, a recording or a core. */
struct loaded_module {
    uint64_t start, end; /* as loaded */
    char *path;          /* as in the process */
    const char *name;    /* its name in frames; NULL: path */
    const char *root;    /* of a core: the process's /; NULL: ours */
    bool gone;           /* its file had been deleted by then */
    void *image;         /* its bytes, if it is not a file (the vDSO of a core); may be NULL */
    size_t image_size;
    uint8_t build_id[64];
    size_t size;  /* bytes of build_id; 0: unknown */
    bool refused; /* set after a search: no file here is this module, and stderr says why */
};

/* The facts about it, for a search. */
struct object_module loaded_module_facts(const struct loaded_module *module);

/* [start, end) of one module. */
struct loaded_stretch {
    uint64_t start, end;
    struct loaded_module *module;
};

struct loaded_modules {
    struct loaded_stretch *stretches; /* ascending, disjoint */
    size_t count;
};

/*
 * Of overlapping modules the later start has the address; of equal starts the smaller module.
 *
 * @param modules  borrowed
 * @return false: no memory
 */
bool loaded_modules_make(struct loaded_modules *out, struct loaded_module *modules, size_t count);

void loaded_modules_free(struct loaded_modules *map);

/* @return NULL: no module */
struct loaded_module *loaded_modules_find(const struct loaded_modules *map, uint64_t address);

#endif
