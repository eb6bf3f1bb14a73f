/*
 * The code of the hottest functions, as a page has it: instructions with their lines and figures, and the source lines where the files
 * are here. At most some hundred KB: a page is sent around.
 */
#ifndef PROFILER_REPORT_PAGE_HTML_CODE_H
#define PROFILER_REPORT_PAGE_HTML_CODE_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "util/strings.h"

/* Writes "code", with texts as numbers of the page's strings. @return false: no memory */
bool html_code_write(FILE *to, const struct report_model *model, struct report_strings *strings);

#endif
