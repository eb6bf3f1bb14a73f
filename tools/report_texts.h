/* Source files: where they were built, or below the folders of --symbol-path. */
#ifndef REPORT_TEXTS_H
#define REPORT_TEXTS_H

#include "report/text/list.h"
#include "report_request.h"

/* @param request  borrowed */
struct report_texts report_texts_of(const struct report_request *request);

#endif
