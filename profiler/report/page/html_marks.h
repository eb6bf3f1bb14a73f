/* Marks and pauses of recordings, on the page's time line. */
#ifndef PROFILER_REPORT_PAGE_HTML_MARKS_H
#define PROFILER_REPORT_PAGE_HTML_MARKS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* Writes two lists: {ns, name} of marks; {from, to} of pauses, in ns. @return false: no memory */
bool html_marks_write(FILE *to, const struct report_model *model);

#endif
