/* What is not known of recorded heaps. */
#ifndef REPORT_HEAP_MISSING_H
#define REPORT_HEAP_MISSING_H

#include <stdio.h>

#include "report/model.h"
#include "report/text/detail.h"

/* A line for each fact; nothing if all is known. @return false: no memory */
bool report_heap_missing_write(FILE *to, const struct report_model *model,
                               enum report_detail detail);

#endif
