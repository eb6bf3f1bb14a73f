/* The options of `sfb report` that are for heaps, and what they are good for. */
#ifndef CLI_REPORT_HEAP_VIEWS_H
#define CLI_REPORT_HEAP_VIEWS_H

#include "cli/report/inputs.h"
#include "cli/report/request.h"
#include "profiler/report/model/fold.h"
#include "profiler/report/model/suppressions.h"

/* Takes one. @return false after a complaint */
bool report_heap_take(struct report_request *request, int option, enum tool_exit *exit_status);

/* All were taken: whether they go with each other. @return false after a complaint */
bool report_heap_judge(struct report_request *request, enum tool_exit *exit_status);

/* Whether the recordings are what the options are for. @return false after a complaint */
bool report_heap_fits(const struct report_request *request, const struct report_inputs *inputs);

/* Reads the file of --suppressions. @return false after a complaint; out is to be freed in any case */
bool report_heap_read_suppressions(const struct report_request *request,
                                   struct report_suppressions *out, enum tool_exit *exit_status);

/* Folds the stacks of a heap for the view that is wanted. @return TOOL_DONE; after a complaint why not */
enum tool_exit report_heap_fold(const struct report_request *request, struct report_model *model);

#endif
