/* Lines of words, as wide as a terminal. */
#ifndef PROFILER_REPORT_TEXT_WRAP_H
#define PROFILER_REPORT_TEXT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a line, and goes on in a further line where a word does not fit, four columns farther to the right.
 *
 * @param line   escaped already
 * @param width  columns; 0: it is not broken
 */
void report_wrap_line(FILE *to, const char *line, size_t size, unsigned width);

/* The same of each line of a summary. Ones that are to be copied stay whole: commands, which are not indented, and what to try. */
void report_wrap(FILE *to, const char *text, unsigned width);

#endif
