/* Labels of a recording, as metrics have them: service=checkout,version=1.2. */
#ifndef UTIL_LABELS_H
#define UTIL_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* `key=value` texts, each with its '\0', in the order in which keys came first. Each key once. */
struct labels {
    char *text;
    size_t size;
};

/*
 * Adds labels from the command line: `key=value`, separated by commas. A key has letters, digits, `_`, `.`, `-`, and begins with a
 * letter or `_`; a value has any bytes but commas. A key that is there gets the new value.
 *
 * @return NULL, or the fault, a verb first: "is no label..."
 */
const char *labels_parse(struct labels *labels, const char *argument);

/*
 * Adds labels that may be damaged: other texts are skipped.
 *
 * @return false: no memory
 */
bool labels_add(struct labels *labels, const char *text, size_t size);

/* @return the value of a key; NULL: no such key */
const char *labels_value(const struct labels *labels, const char *key);

/* @return the label behind another, or the first one (NULL); NULL: there are no more. Its `=` is always there */
const char *labels_next(const struct labels *labels, const char *label);

void labels_free(struct labels *labels);

#endif
