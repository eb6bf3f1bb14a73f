/* The arguments of `sfb report`, made into a request. */
#ifndef CLI_REPORT_ARGUMENTS_H
#define CLI_REPORT_ARGUMENTS_H

#include "cli/report/request.h"

/*
 * Reads the options. What follows them in argv are the recordings.
 *
 * @param out  to be closed in any case
 * @return false after a complaint, or after --help
 */
bool report_arguments_read(struct report_request *out, const struct tool_command *command, int argc,
                           char **argv, enum tool_exit *exit_status);

#endif
