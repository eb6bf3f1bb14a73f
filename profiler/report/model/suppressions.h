/*
 * Leaks that are not to be shown, as LeakSanitizer reads them (pattern.h): a line `leak:PATTERN` for each. A pattern is
 * searched in the function, the source file and the module of each frame.
 */
#ifndef PROFILER_REPORT_MODEL_SUPPRESSIONS_H
#define PROFILER_REPORT_MODEL_SUPPRESSIONS_H

#include "profiler/report/model/model.h"

struct report_suppression {
    char *pattern;
    size_t line;   /* of its file, from 1 on */
    size_t stacks; /* that it has suppressed */
    struct report_amount blocks, bytes;
};

struct report_suppressions {
    REPORT_ARRAY(struct report_suppression) all;
};

/*
 * Reads a file's text.
 *
 * @param out   to be freed in any case
 * @param line  written: the first invalid line; 0: no memory
 * @return false: invalid line, or no memory
 */
bool report_suppressions_read(struct report_suppressions *out, const char *text, size_t *line);

/* The same of a file. @param line  0: errno says why it cannot be read */
bool report_suppressions_read_file(struct report_suppressions *out, const char *path, size_t *line);

/* @return the first that a stack has a frame of, from the innermost on; NULL: none */
struct report_suppression *report_suppressions_find(struct report_suppressions *suppressions,
                                                    const struct report_model *model,
                                                    uint32_t stack);

/* What they have suppressed is forgotten. */
void report_suppressions_forget(struct report_suppressions *suppressions);

void report_suppressions_free(struct report_suppressions *suppressions);

#endif
