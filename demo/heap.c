/*
 * A program with three faults of the heap, for profiler/docs/HEAP.md: a leak, a peak that need not be, and blocks that live for no time.
 *
 *     cc -g -O2 demo/heap.c -o heap && ./heap
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 200000, KEYS = 1000, ROWS = 50000 };

static char *names[KEYS];
static char **rows;

/* Leaks: the name that was there before is forgotten when a key comes again. */
static void remember(int key, const char *name)
{
    if (names[key] == NULL || key % 100 == 0)
        names[key] = strdup(name);
}

/* Churns: a copy of each request, for as long as it takes to look at its first letter. */
static int is_get(const char *request)
{
    char *copy = strdup(request);
    int yes;

    if (copy == NULL)
        return 0;
    yes = strncmp(copy, "GET ", 4) == 0;
    free(copy);
    return yes;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Peaks: a copy of every row, where the pointers would do. */
static size_t count_different(void)
{
    char **sorted = malloc(ROWS * sizeof *sorted);
    size_t different = 0;

    if (sorted == NULL)
        return 0;
    for (int i = 0; i < ROWS; i++)
        sorted[i] = strdup(rows[i]);
    qsort(sorted, ROWS, sizeof *sorted, by_text);
    for (int i = 0; i < ROWS; i++)
        different += i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0;
    for (int i = 0; i < ROWS; i++)
        free(sorted[i]);
    free(sorted);
    return different;
}

static void load(void)
{
    char text[64];

    rows = calloc(ROWS, sizeof *rows);
    for (int i = 0; rows != NULL && i < ROWS; i++) {
        snprintf(text, sizeof text, "row %d of a table that is not sorted", i * 7919 % 10007);
        rows[i] = strdup(text);
    }
}

static void serve(void)
{
    char request[64];
    int gets = 0;

    for (int i = 0; i < REQUESTS; i++) {
        snprintf(request, sizeof request, "%s /key/%d", i % 3 ? "GET" : "PUT", i % KEYS);
        gets += is_get(request);
        remember(i % KEYS, request);
    }
    printf("%d of %d requests are GET\n", gets, REQUESTS);
}

int main(void)
{
    load();
    if (rows == NULL)
        return 1;
    printf("%zu rows are different\n", count_different());
    serve();
    for (int i = 0; i < ROWS; i++)
        free(rows[i]);
    free(rows);
    return 0;
}
