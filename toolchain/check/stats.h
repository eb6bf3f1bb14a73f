/* How .sframe covers the code of a file, by section and by function, and what it costs. */
#ifndef TOOLCHAIN_CHECK_STATS_H
#define TOOLCHAIN_CHECK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATS_UNCOVERED = 10 };

/* The code of a section. */
struct stats_section {
    char *name;
    uint64_t functions, functions_covered, bytes, bytes_covered;
};

/* A function with uncovered bytes. */
struct stats_function {
    char *place; /* "0x1234 (main+0x0)" */
    uint64_t start, bytes, missing;
};

struct check_stats {
    bool done;
    struct stats_section *sections;
    size_t section_count;
    struct stats_function uncovered[STATS_UNCOVERED]; /* most missing bytes first */
    size_t uncovered_count;
    uint64_t header_size, entries_size, rows_size; /* bytes of .sframe; rows with attributes */
};

#endif
