#include "results.h"

#include <string.h>

struct result *results;
size_t result_count;

static struct result *find(const char *situation, const char *column, const char *row)
{
    for (size_t i = 0; i < result_count; i++) {
        struct result *r = &results[i];

        if (strcmp(r->row, row) == 0 && strcmp(r->column, column) == 0 &&
            strcmp(r->situation, situation) == 0) {
            return r;
        }
    }
    return NULL;
}

const struct result *result_find(const char *situation, const char *column, const char *row)
{
    return find(situation, column, row);
}

const struct result *result_of(const char *situation)
{
    for (size_t i = 0; i < result_count; i++) {
        if (strcmp(results[i].situation, situation) == 0) {
            return &results[i];
        }
    }
    return NULL;
}

static struct result *add(const char *situation, const char *column, const char *row)
{
    struct result *grown = realloc(results, (result_count + 1) * sizeof *results);

    if (grown == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    results = grown;
    grown = &results[result_count++];
    memset(grown, 0, sizeof *grown);
    snprintf(grown->situation, sizeof grown->situation, "%s", situation);
    snprintf(grown->column, sizeof grown->column, "%s", column);
    snprintf(grown->row, sizeof grown->row, "%s", row);
    return grown;
}

void results_read(FILE *in)
{
    char line[512];

    while (fgets(line, sizeof line, in) != NULL) {
        char *rest = line;
        const char *situation = strsep(&rest, "\t");
        const char *column = strsep(&rest, "\t");
        const char *row = strsep(&rest, "\t");
        struct result *result;

        if (rest == NULL) {
            fprintf(stderr, "bench: no record: %s", line);
            continue;
        }
        result = find(situation, column, row);
        if (result == NULL) {
            result = add(situation, column, row);
        }
        if (result->count < RESULT_RUNS_MAX) {
            result->runs[result->count++] = strtod(rest, NULL);
        }
    }
}

struct spread result_spread(const struct result *result)
{
    double sorted[RESULT_RUNS_MAX];

    memcpy(sorted, result->runs, sizeof sorted);
    return timing_spread(sorted, result->count);
}

double result_ratio(const struct result *a, const struct result *b)
{
    double ratios[RESULT_RUNS_MAX];
    unsigned count = 0;

    if (a == NULL || b == NULL) {
        return 0;
    }
    for (; count < a->count && count < b->count; count++) {
        ratios[count] = b->runs[count] > 0 ? a->runs[count] / b->runs[count] : 0;
    }
    return count == 0 ? 0 : timing_spread(ratios, count).median;
}
