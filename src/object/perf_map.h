/*
 * Names of code that a process makes at run time, as its JIT compiler writes them for perf: a line
 * "HEXADDRESS HEXSIZE NAME" of /tmp/perf-PID.map for each function, in the order in which they were
 * made. Code is thrown away and its addresses used again without a line for that, so the last line
 * that has an address is right.
 */
#ifndef OBJECT_PERF_MAP_H
#define OBJECT_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/process.h"

struct object_perf_symbol {
    uint64_t start, size;
    const char *name;
};

struct object_perf_map {
    char *text;                         /* what was read; names are in it */
    struct object_perf_symbol *symbols; /* in the order of lines */
    size_t count;
    uint64_t *bounds; /* ascending; [bounds[i], bounds[i + 1]) has one name */
    uint32_t *owners; /* of each stretch: index of the symbol + 1; 0: none */
    size_t bound_count;
    size_t bad_lines, first_bad; /* lines that were passed over, and the number of the first */
};

/* Larger ones are not read. */
#define OBJECT_PERF_MAP_MAX ((size_t)256 << 20)

/*
 * Takes a text apart.
 *
 * @param text  from malloc(), size + 1 bytes; it belongs to the map now, and is changed
 * @return false: no memory; out is to be freed in any case
 */
bool object_perf_map_read(struct object_perf_map *out, char *text, size_t size);

/*
 * Reads the file of a process: in its own /tmp, under the number that it has itself, which in a
 * container is another one. Somebody else may have put a file there: it is taken only if it is a
 * regular file of the user of the process, or of root.
 *
 * @param path   which one it is; written whenever the result is not 0
 * @param cause  why it is not used
 * @return 1: read, and to be freed; 0: there is none; -1: it is not used
 */
int object_perf_map_open(struct object_perf_map *out, const struct object_process *process,
                         char path[OBJECT_PROCESS_PATH], const char **cause);

/* @return NULL: no line has the address */
const struct object_perf_symbol *object_perf_map_find(const struct object_perf_map *map,
                                                      uint64_t address);

void object_perf_map_free(struct object_perf_map *map);

#endif
