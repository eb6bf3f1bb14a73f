/*
 * Which module of a process that is gone an address lies in. There may be any number of modules, which
 * may overlap; each question costs the logarithm of it.
 */
#ifndef LOADED_MODULES_H
#define LOADED_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module of a process that is gone, as a crash report or a recording has it. */
struct loaded_module {
    uint64_t start, end; /* where it was loaded */
    char *path;          /* as the process knew it */
    uint8_t build_id[64];
    size_t size;  /* bytes of build_id; 0: none */
    bool refused; /* set when it was looked at: no file here is that one, and stderr says why */
};

/* [start, end) belongs to one module. */
struct loaded_stretch {
    uint64_t start, end;
    struct loaded_module *module;
};

struct loaded_modules {
    struct loaded_stretch *stretches; /* ascending, apart from each other */
    size_t count;
};

/*
 * Where modules overlap, the one that starts later has the address; of two that start at the same
 * place, the smaller.
 *
 * @param modules  borrowed
 * @return false: no memory
 */
bool loaded_modules_make(struct loaded_modules *out, struct loaded_module *modules, size_t count);

void loaded_modules_free(struct loaded_modules *map);

/* @return NULL: none is there */
struct loaded_module *loaded_modules_find(const struct loaded_modules *map, uint64_t address);

#endif
