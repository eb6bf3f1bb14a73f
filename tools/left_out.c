#include "left_out.h"

#include <string.h>

/* CMake says why it left them out. */
#ifndef SFB_HAVE_RECORDING
static const struct {
    const char *command;
    enum tool_exit exit_status; /* as the command itself has it */
} left_out[] = { { "record", TOOL_FAILED }, { "report", TOOL_USAGE }, { "ctl", TOOL_USAGE } };
#endif

bool left_out_say(const char *command, enum tool_exit *exit_status)
{
#ifdef SFB_HAVE_RECORDING
    (void)command;
    (void)exit_status;
#else
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        if (strcmp(command, left_out[i].command) != 0)
            continue;
        *exit_status =
            tool_complain(left_out[i].exit_status,
                          "%s: this sfb was built without it: " SFB_NO_RECORDING, command);
        return true;
    }
#endif
    return false;
}
