/* What ended the waits of threads, for the page's tracks. */
#ifndef PROFILER_REPORT_PAGE_HTML_WAKERS_H
#define PROFILER_REPORT_PAGE_HTML_WAKERS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* Writes lists that stand side by side: `ns` of `thread`, ended by the thread `other`; -1: by `name`. @return false: no memory */
bool html_wakers_write(FILE *to, const struct report_model *model, struct report_strings *strings);

#endif
