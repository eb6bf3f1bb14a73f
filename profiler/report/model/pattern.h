/*
 * Files of patterns, as LeakSanitizer reads its suppressions: lines `KIND:PATTERN`, and `#` for comments. A pattern is
 * found anywhere in a text; `*` is any text, `^` and `$` are the text's ends.
 */
#ifndef PROFILER_REPORT_MODEL_PATTERN_H
#define PROFILER_REPORT_MODEL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a pattern is in a text, as LeakSanitizer has it. */
bool report_pattern_is_in(const char *pattern, const char *text);

struct report_pattern_lines {
    const char *text; /* what is left */
    size_t line;      /* of the last one given, from 1 */
};

/* A line without blanks at its ends; not empty, and no comment. */
struct report_pattern_line {
    const char *at;
    size_t size;
};

/* @return false: no line is left */
bool report_pattern_next(struct report_pattern_lines *lines, struct report_pattern_line *out);

/* @return the pattern behind `kind`, to be freed; NULL: the line has another kind, and errno is 0; else no memory */
char *report_pattern_of(const struct report_pattern_line *line, const char *kind);

/* @return the text of a file, to be freed; NULL: see errno */
char *report_pattern_file(const char *path);

#endif
