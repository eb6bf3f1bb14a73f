/* Source files: where they were built, or below the folders of --symbol-path. */
#ifndef CLI_REPORT_TEXTS_H
#define CLI_REPORT_TEXTS_H

#include "cli/report/request.h"
#include "profiler/report/text/list.h"

/* @param request  borrowed */
struct report_texts report_texts_of(const struct report_request *request);

#endif
