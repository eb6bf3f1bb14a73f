/* The first lines of the report of a heap: what was allocated, lives, was the peak. */
#ifndef REPORT_HEAP_SUMMARY_H
#define REPORT_HEAP_SUMMARY_H

#include <stdio.h>

#include "report/model.h"

/* Plain text, a fact a line; the first is the command. Without what is missing: heap_missing.h. */
void report_heap_summary_write(FILE *to, const struct report_model *model);

#endif
