/*
 * A reader of pprof files for tests, written from profile.proto and not from our writer. It is strict: ids ascend from 1 in
 * the order of the file, as Parca wants it; every number that means something else is in range; texts are valid UTF-8.
 */
#ifndef SUPPORT_PPROF_READ_H
#define SUPPORT_PPROF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPROF_VALUES = 8, PPROF_LABELS = 8 };

struct pprof_label {
    const char *key, *text; /* text NULL: number */
    int64_t number;
};

struct pprof_sample {
    size_t at, count; /* in `stack` */
    int64_t values[PPROF_VALUES];
    struct pprof_label labels[PPROF_LABELS];
    size_t label_count;
};

struct pprof_mapping {
    uint64_t start, limit, offset;
    const char *file, *build_id;
    bool has_functions, has_files, has_lines, has_inlines;
};

struct pprof_location {
    uint64_t mapping, address; /* mapping: an id; 0: none */
    size_t at, count;          /* in `lines`, innermost first */
};

struct pprof_line {
    uint64_t function; /* id */
    int64_t line, column;
};

struct pprof_function {
    const char *name, *system_name, *file;
};

struct pprof_file {
    uint8_t *bytes; /* unpacked */
    size_t size;
    const char *fault; /* what is wrong with it; NULL: nothing */
    char **strings;
    const char *types[PPROF_VALUES][2]; /* type, unit */
    size_t type_count;
    struct pprof_sample *samples;
    uint64_t *stack; /* ids of locations */
    struct pprof_mapping *mappings;
    struct pprof_location *locations;
    struct pprof_line *lines;
    struct pprof_function *functions;
    size_t string_count, sample_count, stack_count, mapping_count, location_count, line_count,
        function_count, comment_count;
    int64_t time, duration, period;
    const char *default_type, *period_type[2];
};

/* Reads a gzip file in memory. @return whether nothing is wrong with it; to be freed in any case */
bool pprof_read(struct pprof_file *out, const void *gzip, size_t size);

/* @return a sample's label of that key; NULL: it has none */
const struct pprof_label *pprof_label_of(const struct pprof_sample *sample, const char *key);

void pprof_free(struct pprof_file *file);

#endif
