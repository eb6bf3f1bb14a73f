/* A report as a page: one HTML file that needs no network (page/, docs/REPORTS.md). */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

#include "report/model.h"

/* @return false: no memory */
bool report_html_write(FILE *to, const struct report_model *model);

#endif
