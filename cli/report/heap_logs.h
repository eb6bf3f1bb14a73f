/* A log with dumps of live tables, as a recording: `sfb report LOG`. */
#ifndef CLI_REPORT_HEAP_LOGS_H
#define CLI_REPORT_HEAP_LOGS_H

#include "cli/report/request.h"
#include "cli/tool.h"
#include "symbols/symbols.h"

/*
 * Makes a recording in memory of the dumps of a log, and prints which stacks allocated what was overrun.
 *
 * @param symbols      NULL: no names
 * @param exit_status  written after a complaint, and where blocks were overrun
 * @return a descriptor of it, to be closed; -1: the file is no such log, or after a complaint
 */
int report_log_open(const struct report_request *request, const char *path, struct symbols *symbols,
                    enum tool_exit *exit_status);

#endif
