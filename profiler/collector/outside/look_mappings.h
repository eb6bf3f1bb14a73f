/* Which module or mapping of a process an address of data is in. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_MAPPINGS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_MAPPINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "util/array.h"

struct look_mapping {
    uint64_t start, end;
    uint64_t module; /* where the first mapping of its file begins, or it itself */
    bool writable;
    const char *name; /* path; "[heap]"; "" */
};

/* Zeroed: not read. */
struct look_mappings {
    REPORT_ARRAY(struct look_mapping) all; /* ascending */
    char *text;
    size_t size, room;
    uint64_t read_at; /* CLOCK_MONOTONIC */
};

/*
 * Finds the mapping of an address. The map is read again where it lacks the address, ten times a second at most. Zeroed memory of a
 * module (.bss) is the module's.
 *
 * @return NULL: not known yet. Good until the next call
 */
const struct look_mapping *look_mappings_find(struct look_mappings *mappings, pid_t pid,
                                              uint64_t address);

/* What was read is not so any more. */
void look_mappings_forget(struct look_mappings *mappings);

void look_mappings_free(struct look_mappings *mappings);

#endif
