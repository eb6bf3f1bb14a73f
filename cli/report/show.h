/* What `sfb report` shows on standard output. */
#ifndef CLI_REPORT_SHOW_H
#define CLI_REPORT_SHOW_H

#include "cli/report/request.h"
#include "profiler/report/model/model.h"

/* @return TOOL_DONE; after a complaint why not */
enum tool_exit report_show(const struct report_request *request, const struct report_model *model);

#endif
