/*
 * Names of JIT-compiled code, as compilers write them for perf: a line "HEXADDRESS HEXSIZE NAME" of
 * /tmp/perf-PID.map for each function, in order of creation. Code is dropped and its addresses are
 * reused without a line for that, so the last line with an address is right.
 */
#ifndef SYMBOLS_PERF_MAP_H
#define SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/process.h"

struct object_perf_symbol {
    uint64_t start, size;
    const char *name;
};

struct object_perf_map {
    char *text;                         /* the file's text, with the names */
    struct object_perf_symbol *symbols; /* in order of lines */
    size_t count;
    uint64_t *bounds; /* ascending; [bounds[i], bounds[i + 1]) has one name */
    uint32_t *owners; /* of each stretch: index of the symbol + 1; 0: free */
    size_t bound_count;
    size_t bad_lines, first_bad; /* malformed lines, and the number of the first */
};

/* Larger ones are not read. */
#define OBJECT_PERF_MAP_MAX ((size_t)256 << 20)

/*
 * Parses a text.
 *
 * @param text  from malloc(), size + 1 bytes; owned and changed by the map
 * @return false: no memory; out needs freeing in any case
 */
bool object_perf_map_read(struct object_perf_map *out, char *text, size_t size);

/*
 * Reads the file of a process: in its own /tmp, by its own pid, which differs in a container. Any
 * user may have put a file there: only a regular file of the process's user, or of root, is taken.
 *
 * @param path   of the file; written if the result is not 0
 * @param cause  why it is not used
 * @return 1: read, needs freeing; 0: no file; -1: not used
 */
int object_perf_map_open(struct object_perf_map *out, const struct object_process *process,
                         char path[OBJECT_PROCESS_PATH], const char **cause);

/* @return NULL: no line with the address */
const struct object_perf_symbol *object_perf_map_find(const struct object_perf_map *map,
                                                      uint64_t address);

void object_perf_map_free(struct object_perf_map *map);

#endif
