/* Whether each option has an effect on what is shown and written. */
#ifndef CLI_REPORT_EFFECTS_H
#define CLI_REPORT_EFFECTS_H

#include "cli/report/request.h"

/* @return false after a complaint: an option would change nothing */
bool report_effects_judge(const struct report_request *request, enum tool_exit *exit_status);

#endif
