/*
 * Which module of a crash report an address lies in. A report may have any number of modules, which
 * may overlap; each question costs the logarithm of it.
 */
#ifndef REPORT_MODULES_H
#define REPORT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module of a process that is gone, as a crash report has it. */
struct report_module {
    uint64_t start, end; /* where it was loaded */
    char *path;          /* as the process knew it */
    uint8_t build_id[64];
    size_t size;  /* bytes of build_id; 0: none */
    bool refused; /* set when it was looked at: no file here is that one, and stderr says why */
};

/* [start, end) belongs to one module. */
struct report_stretch {
    uint64_t start, end;
    struct report_module *module;
};

struct report_modules {
    struct report_stretch *stretches; /* ascending, apart from each other */
    size_t count;
};

/*
 * Where modules overlap, the one that starts later has the address; of two that start at the same
 * place, the smaller.
 *
 * @param modules  borrowed
 * @return false: no memory
 */
bool report_modules_make(struct report_modules *out, struct report_module *modules, size_t count);

void report_modules_free(struct report_modules *map);

/* @return NULL: none is there */
struct report_module *report_modules_find(const struct report_modules *map, uint64_t address);

#endif
