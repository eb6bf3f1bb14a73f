/* sfb report --diff LABELS LABELS RECORDING...: which recordings are the old ones, and which the new ones. */
#ifndef CLI_REPORT_GROUPS_H
#define CLI_REPORT_GROUPS_H

#include "cli/report/request.h"

/*
 * Takes the first two arguments for labels, as version=1.1,env=prod, and of the others those recordings that have all labels of
 * one of them. How many have not is said. What it makes of the request is freed by report_request_close().
 *
 * @return TOOL_DONE; after a complaint why not
 */
enum tool_exit report_groups_choose(struct report_request *request);

#endif
