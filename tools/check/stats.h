/* How .sframe covers the code of a file, by section and by function, and what it costs. */
#ifndef CHECK_STATS_H
#define CHECK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATS_UNCOVERED = 10 };

/* The code of a section. */
struct stats_section {
    char *name;
    uint64_t functions, functions_covered, bytes, bytes_covered;
};

/* A function with bytes that have no row. */
struct stats_function {
    char *place; /* "0x1234 (main+0x0)" */
    uint64_t start, bytes, missing;
};

struct check_stats {
    bool done;
    struct stats_section *sections;
    size_t section_count;
    struct stats_function uncovered[STATS_UNCOVERED]; /* those that miss most, descending */
    size_t uncovered_count;
    uint64_t header_size, entries_size, rows_size; /* bytes of .sframe; with attributes the rows */
};

struct check;

/* Adds a function. */
void stats_note(struct check *c, uint64_t start, uint64_t end, uint64_t covered);

/* Names what was added, and measures the section. */
void stats_finish(struct check *c);

void stats_free(struct check_stats *stats);

#endif
