/*
 * The modules of a process, from its /proc/PID/maps or a copy of that: which file lies at which
 * addresses. Nothing is opened here; process.h goes to the files.
 */
#ifndef OBJECT_PROCESS_MAPS_H
#define OBJECT_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One file, wherever it is mapped; or "[vdso]". */
struct object_mapped {
    char *path;     /* as the process has it, without " (deleted)" */
    uint64_t inode; /* 0: it is no file */
    uint64_t device;
    bool deleted;
    size_t first; /* its first mapping */
};

/* A line that has a file. */
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
 * Reads the text of a memory map.
 *
 * @param line  number of the line that is wrong, from 1; written on failure
 * @return NULL, or what is wrong; out is to be freed in any case
 */
const char *object_maps_read(struct object_maps *out, const char *text, size_t size, size_t *line);

/* Finds the mapping that an address is in. @return NULL: no file is there */
const struct object_mapping *object_maps_find(const struct object_maps *maps, uint64_t address);

/*
 * Finds the two mappings of one file that an address lies between, where no file is: its zeroed
 * data, or code that was moved to large pages. It may also be anything else.
 *
 * @return the one before, behind it that after; NULL: the address lies between two files
 */
const struct object_mapping *object_maps_between(const struct object_maps *maps, uint64_t address);

void object_maps_free(struct object_maps *maps);

#endif
