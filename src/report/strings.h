/* Texts, each once: equal texts have equal numbers. */
#ifndef REPORT_STRINGS_H
#define REPORT_STRINGS_H

#include "report/array.h"
#include "report/index.h"

struct report_strings {
    REPORT_ARRAY(char *) all;
    struct report_index index; /* by two hashes of the text */
};

/*
 * @param text  copied; NULL is ""
 * @return false: no memory
 */
bool report_strings_add(struct report_strings *strings, const char *text, uint32_t *out);

void report_strings_free(struct report_strings *strings);

#endif
