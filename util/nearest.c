#include "util/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 128, PREFIX_LEAST = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size, size_t most)
{
    /* Row i of the edit distance table: the first i letters of a against the first k of b. */
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    if (a_size > LONGEST || b_size > LONGEST ||
        (a_size > b_size ? a_size - b_size : b_size - a_size) > most)
        return most + 1;
    for (size_t k = 0; k <= b_size; k++)
        last[k] = k;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t k = 1; k <= b_size; k++) {
            const size_t changed = !same_letter(a[i - 1], b[k - 1]);

            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + changed);
            if (i > 1 && k > 1 && same_letter(a[i - 1], b[k - 2]) &&
                same_letter(a[i - 2], b[k - 1]))
                row[k] = least(row[k], before[k - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b_size] > most ? most + 1 : last[b_size];
}

void nearest_begin(struct nearest *out, const char *typed, size_t size)
{
    *out = (struct nearest){ .typed = typed, .typed_size = size };
}

/* @return the distance; more than `most`: too far */
static size_t distance_of(const struct nearest *n, const char *name, size_t size, size_t most)
{
    const size_t common = least(size, n->typed_size);
    const size_t distance = edit_distance(n->typed, n->typed_size, name, size, most);

    /* "output-file" for "output": ranked with the worst accepted name. */
    if (distance > most && common >= PREFIX_LEAST &&
        edit_distance(n->typed, common, name, common, 0) == 0)
        return most;
    return distance;
}

void nearest_add(struct nearest *n, const char *part, const char *name)
{
    const size_t most = (n->typed_size + 2) / 3;
    const size_t distance = distance_of(n, part, strlen(part), most);
    size_t at = n->count;

    if (distance > most)
        return;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->names[i].name, name) == 0)
            return;
    while (at > 0 && n->names[at - 1].distance > distance)
        at--;
    if (at == NEAREST_MAX)
        return;
    if (n->count < NEAREST_MAX)
        n->count++;
    memmove(&n->names[at + 1], &n->names[at], (n->count - at - 1) * sizeof n->names[0]);
    n->names[at].name = name;
    n->names[at].distance = distance;
}

void nearest_end(struct nearest *n)
{
    while (n->count > 1 && n->names[n->count - 1].distance > n->names[0].distance + 1)
        n->count--;
}
