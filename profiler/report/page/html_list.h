/* Lists in JSON, element by element. */
#ifndef PROFILER_REPORT_PAGE_HTML_LIST_H
#define PROFILER_REPORT_PAGE_HTML_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* `"name":[` */
void html_list_begin(FILE *to, const char *name);

/* What stands before element i: a comma, but before the first. */
void html_list_next(FILE *to, size_t i);

/* Element i, a number. */
void html_list_number(FILE *to, size_t i, uint64_t number);

/* The same, minus the number before: lists that ascend pack well. @param before  of the list: 0 at first */
void html_list_further(FILE *to, size_t i, uint64_t number, uint64_t *before);

/* `]`, and what follows. */
void html_list_end(FILE *to, const char *next);

#endif
