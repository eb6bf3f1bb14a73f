/** The figures of all runs, as their records said them. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stddef.h>
#include <stdio.h>

#include "timing.h"

enum { RESULT_RUNS_MAX = 32, RESULT_NAME = 80 };

struct result {
    char situation[RESULT_NAME], column[RESULT_NAME], row[RESULT_NAME];
    double runs[RESULT_RUNS_MAX]; /* in the order of the runs */
    unsigned count;
};

/* Adds the records of a run: lines of situation, column, row and value between tabs. */
void results_read(FILE *in);

/* All results, in the order in which their first record came. */
extern struct result *results;
extern size_t result_count;

/* @return a result; NULL: there is none */
const struct result *result_find(const char *situation, const char *column, const char *row);

/* @return any result of a situation; NULL: there is none */
const struct result *result_of(const char *situation);

/* @return median and quartiles over the runs */
struct spread result_spread(const struct result *result);

/* @return the median of a / b, each pair from one run; 0: one is missing */
double result_ratio(const struct result *a, const struct result *b);

#endif
