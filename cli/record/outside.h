/* sfb record --pid, --all: processes that run already, from outside. */
#ifndef CLI_RECORD_OUTSIDE_H
#define CLI_RECORD_OUTSIDE_H

#include "cli/record/parts.h"

/* Records them until they have ended, or until the user or --duration ends it. */
enum tool_exit record_outside(const struct record_request *request);

#endif
