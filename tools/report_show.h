/* What `sfb report` shows on standard output. */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H

#include "report/model.h"
#include "report_request.h"

/* @return TOOL_DONE; after a complaint why not */
enum tool_exit report_show(const struct report_request *request, const struct report_model *model);

#endif
