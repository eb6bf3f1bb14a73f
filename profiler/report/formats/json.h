/* Texts in JSON. */
#ifndef PROFILER_REPORT_FORMATS_JSON_H
#define PROFILER_REPORT_FORMATS_JSON_H

#include <stdio.h>

/*
 * Writes a text in quotes. It is valid UTF-8 whatever the text is: what a terminal would not show stands in it as
 * \\ooo, three octal digits for each byte, as in all other reports (util/foreign.h).
 */
void report_json_text(FILE *to, const char *text);

#endif
