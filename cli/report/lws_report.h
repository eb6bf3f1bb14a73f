/* `sfb report --lws PROGRAM`: which stacks hold the memory, by the notes of allocations in a log. */
#ifndef CLI_REPORT_LWS_REPORT_H
#define CLI_REPORT_LWS_REPORT_H

#include <stdbool.h>

#include "cli/tool.h"

/* Whether the arguments of `sfb report` ask for it: they are of a log then, and not of recordings. */
bool lws_report_is_asked(int argc, char **argv);

enum tool_exit lws_report_run(const struct tool_command *command, int argc, char **argv);

#endif
