/* What libraries report, printed as the command's own complaints. */
#ifndef CLI_TOOL_REPORTER_H
#define CLI_TOOL_REPORTER_H

#include "cli/tool_exit.h"
#include "util/reporter.h"

/* What is reported changes no exit status. */
extern const struct reporter tool_complaints;

/* @param worst  becomes the worst exit status that a report asks for */
struct reporter tool_reporter(enum tool_exit *worst);

#endif
