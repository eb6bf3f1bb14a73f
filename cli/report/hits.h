/* What a filter of a report finds: one that finds nothing says so, and says what there is. */
#ifndef CLI_REPORT_HITS_H
#define CLI_REPORT_HITS_H

#include "cli/report/inputs.h"
#include "cli/report/request.h"
#include "profiler/report/model/model.h"

/* @return false after a complaint: a process or a thread that is asked for is in no recording */
bool report_hits_names(const struct report_request *request, const struct report_inputs *inputs);

/* @return false after a complaint: of what is recorded nothing is in the part that is chosen */
bool report_hits_model(const struct report_request *request, const struct report_inputs *inputs,
                       const struct report_model *model);

/* @return false after a complaint: a file of one process is asked for, and the model has several */
bool report_hits_one_process(const char *option, const struct report_model *model);

#endif
