/* Unique texts: equal texts have equal numbers. */
#ifndef UTIL_STRINGS_H
#define UTIL_STRINGS_H

#include <stdbool.h>

#include "util/array.h"

struct report_strings {
    REPORT_ARRAY(char *) all;
    struct report_string_slot *slots; /* a hash table */
    size_t room;                      /* a power of two */
    uint64_t key;
};

/*
 * @param text  copied; NULL is ""
 * @return false: no memory
 */
bool report_strings_add(struct report_strings *strings, const char *text, uint32_t *out);

/* @return whether the text was added before */
bool report_strings_find(const struct report_strings *strings, const char *text, uint32_t *out);

void report_strings_free(struct report_strings *strings);

#endif
