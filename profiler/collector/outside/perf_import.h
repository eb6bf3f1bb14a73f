/* A file of `perf record` as a recording: `sfb report --perf`. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_IMPORT_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/collector/outside/outside.h"

struct perf_import {
    char why[160]; /* what is wrong with the file, or with a part of it; "": nothing */
    struct outside_totals totals;
    uint64_t other_events; /* samples of other events than the first that carries stacks */
};

/*
 * Walks the copied stacks of a file, and writes a recording. Its modules are found at their paths, by their build-ids.
 *
 * @param fd  of an empty file, open for writing
 * @return false: there is no recording, and out->why says why not
 */
bool perf_import(struct perf_import *out, const uint8_t *data, size_t size, const char *path,
                 int fd);

#endif
