/*
 * The rows of functions as bytes, each sequence once. A run is a function's rows (in version 3 with
 * the attribute). Functions with equal bytes share a run, also if one has the first bytes of the
 * other.
 */
#ifndef TOOLCHAIN_SYNTH_SFRAME_RUNS_H
#define TOOLCHAIN_SYNTH_SFRAME_RUNS_H

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

/* @return room for `size` bytes behind all runs; NULL: no memory */
uint8_t *sframe_runs_room(struct sframe_runs *runs, size_t size);

/* Adds the first bytes of that room as a run, or finds an equal one. @return false: no memory */
bool sframe_runs_add(struct sframe_runs *runs, size_t size, uint32_t row_count, size_t *index);

/* Joins runs; before the first sframe_runs_place(). @return false: no memory */
bool sframe_runs_join(struct sframe_runs *runs);

/*
 * Places a run behind the placed ones, unless it is placed; adds its bytes and rows to the totals.
 */
void sframe_runs_place(struct sframe_runs *runs, size_t index, uint64_t *size, uint64_t *rows);

/* The offset of a placed run. */
uint64_t sframe_runs_position(const struct sframe_runs *runs, size_t index);

/* Writes all placed runs. */
void sframe_runs_put(const struct sframe_runs *runs, uint8_t *to);

void sframe_runs_free(struct sframe_runs *runs);

#endif
