/*
 * The rows of functions as bytes, each kind once. A run is the rows of a function (in version 3
 * what stands before them, too); functions with equal bytes share one, also where one has the first
 * bytes of another.
 */
#ifndef SFRAME_RUNS_H
#define SFRAME_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sframe_run; /* opaque */

struct sframe_runs {
    bool share;
    struct sframe_run *runs;
    size_t count, capacity;
    size_t *table; /* hash table of runs: index + 1, 0 is free */
    size_t table_size;
    uint8_t *bytes; /* of all runs */
    size_t size, bytes_capacity;
};

/* @return room for `size` bytes behind those of all runs; NULL: no memory */
uint8_t *sframe_runs_room(struct sframe_runs *runs, size_t size);

/* Takes the first bytes of that room as one more run, or finds that run. @return false: no memory */
bool sframe_runs_add(struct sframe_runs *runs, size_t size, uint32_t row_count, size_t *index);

/* Before the first sframe_runs_place(). @return false: no memory */
bool sframe_runs_join(struct sframe_runs *runs);

/* Gives a run its place behind those that have one, unless it has one. Adds what it takes. */
void sframe_runs_place(struct sframe_runs *runs, size_t index, uint64_t *size, uint64_t *rows);

/* Where the bytes of a run are, once it has its place. */
uint64_t sframe_runs_position(const struct sframe_runs *runs, size_t index);

/* Writes all runs that have a place. */
void sframe_runs_put(const struct sframe_runs *runs, uint8_t *to);

void sframe_runs_free(struct sframe_runs *runs);

/* Makes room for more elements in an array. @return false: no memory */
bool sframe_reserve(void *array, size_t *capacity, size_t count, size_t more, size_t element);

#endif
