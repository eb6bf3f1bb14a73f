/* `sfb report --lws PROGRAM`: who has the memory, by the notes of allocations in a log. */
#ifndef LWS_REPORT_H
#define LWS_REPORT_H

#include <stdbool.h>

#include "tool.h"

/* Whether the arguments of `sfb report` ask for it: they are of a log then, and not of recordings. */
bool lws_report_is_asked(int argc, char **argv);

enum tool_exit lws_report_run(const struct tool_command *command, int argc, char **argv);

#endif
