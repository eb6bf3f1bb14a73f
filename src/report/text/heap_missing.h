/* What is not known of recorded heaps. */
#ifndef REPORT_HEAP_MISSING_H
#define REPORT_HEAP_MISSING_H

#include <stdio.h>

#include "report/model.h"

/* A line for each fact; nothing if all is known. */
void report_heap_missing_write(FILE *to, const struct report_model *model);

#endif
