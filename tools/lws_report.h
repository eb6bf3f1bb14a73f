/* `sfb report --lws PROGRAM`: who has the memory, by the notes of allocations in a log. */
#ifndef LWS_REPORT_H
#define LWS_REPORT_H

#include <stdbool.h>

#include "tool.h"

/* Whether the arguments of `sfb report` ask for it: its options are others than those of recordings. */
bool lws_report_is_asked(int argc, char **argv);

enum tool_exit lws_report_run(const struct tool_command *command, int argc, char **argv);

#define LWS_REPORT_USAGE                                                                           \
    "Notes of allocations that a log has, of libwebsockets or of <sframe_backtrace_alloc.h>:\n"    \
    "  --lws PROGRAM    sums them by stack; PROGRAM names the functions. It is the program, or "   \
    "a\n"                                                                                          \
    "                   copy of its /proc/PID/maps. FILE is the log; without it stdin\n"           \
    "  --base ADDRESS   PROGRAM was loaded there: what its first line in /proc/PID/maps begins\n"  \
    "                   with. A program that is not position-independent needs none\n"             \
    "  --dialect D      library or readme, as in `sfb decode --lws`; without it, what fits\n"

#endif
