/* A stack, a function a line, the innermost first. */
#ifndef PROFILER_REPORT_TEXT_STACK_SHOW_H
#define PROFILER_REPORT_TEXT_STACK_SHOW_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/* Of one that is deep, the inner and the outer end are shown; a recursion is one line. @param indent  blanks */
void report_stack_put(FILE *to, const struct report_model *model, const struct report_style *style,
                      uint32_t stack, const char *indent);

#endif
