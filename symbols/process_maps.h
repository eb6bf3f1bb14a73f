/*
 * The modules of a process, from its /proc/PID/maps or a copy: which file is mapped where. Opens
 * nothing; process.h does.
 */
#ifndef SYMBOLS_PROCESS_MAPS_H
#define SYMBOLS_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped file; or "[vdso]". */
struct object_mapped {
    char *path;     /* as in the process, without " (deleted)" */
    uint64_t inode; /* 0: not a file */
    uint64_t device;
    bool deleted;
    size_t first; /* its first mapping */
};

/* A line with a file. */
struct object_mapping {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    bool executable;
    size_t module; /* index */
};

struct object_maps {
    struct object_mapped *modules;
    size_t module_count, module_room;
    struct object_mapping *mappings; /* ascending */
    size_t mapping_count, mapping_room;
};

/*
 * Parses the text of a memory map.
 *
 * @param line  number of the malformed line, from 1; written on failure
 * @return NULL, or the cause; out needs freeing in any case
 */
const char *object_maps_read(struct object_maps *out, const char *text, size_t size, size_t *line);

/* Finds the mapping with an address. @return NULL: no file there */
const struct object_mapping *object_maps_find(const struct object_maps *maps, uint64_t address);

/*
 * Finds the mappings of one file around an address without a file: zeroed data, code on large
 * pages, or anything else.
 *
 * @return the one before; the next one follows it; NULL: between two files
 */
const struct object_mapping *object_maps_between(const struct object_maps *maps, uint64_t address);

void object_maps_free(struct object_maps *maps);

#endif
