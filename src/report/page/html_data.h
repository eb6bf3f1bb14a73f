/*
 * What a page knows, as JSON: a table of texts, and arrays of numbers that stand side by side. docs/REPORTS.md says
 * what is in it; page/src/profile.js reads it.
 */
#ifndef REPORT_HTML_DATA_H
#define REPORT_HTML_DATA_H

#include <stdio.h>

#include "report/page/html_time.h"
#include "report/page/html_tree.h"

/* @return false: no memory */
bool html_data_write(FILE *to, const struct report_model *model, const struct html_tree *tree,
                     const struct html_time *time);

#endif
