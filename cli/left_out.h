/* Commands that this build was made without. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H

#include <stdbool.h>

#include "cli/tool.h"

/*
 * Says why a command is not in this build, and how one is made that has it.
 *
 * @return false: no command that can be left out is called so
 */
bool left_out_say(const char *command, enum tool_exit *exit_status);

#endif
