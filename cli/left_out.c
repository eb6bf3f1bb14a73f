#include "cli/left_out.h"

#include <string.h>

/* Commands of products that CMake has left out, and why it did. The last one ends the list. */
static const struct {
    const char *command, *why;
    enum tool_exit exit_status; /* as the command itself has it */
} left_out[] = {
#ifndef SFB_HAVE_PROFILER
    { "record", SFB_NO_PROFILER, TOOL_FAILED },
    { "report", SFB_NO_PROFILER, TOOL_USAGE },
    { "stack", SFB_NO_PROFILER, TOOL_USAGE },
    { "ctl", SFB_NO_PROFILER, TOOL_USAGE },
#endif
#ifndef SFB_HAVE_TOOLCHAIN
    { "check", SFB_NO_TOOLCHAIN, TOOL_USAGE },
    { "diff", SFB_NO_TOOLCHAIN, TOOL_USAGE },
    { "synth", SFB_NO_TOOLCHAIN, TOOL_USAGE },
    { "dump", SFB_NO_TOOLCHAIN, TOOL_USAGE },
#endif
    { NULL, NULL, TOOL_DONE },
};

bool left_out_say(const char *command, enum tool_exit *exit_status)
{
    for (size_t i = 0; left_out[i].command; i++) {
        if (strcmp(command, left_out[i].command) != 0)
            continue;
        *exit_status =
            tool_complain(left_out[i].exit_status, "%s: this sfb was built without it: %s", command,
                          left_out[i].why);
        return true;
    }
    return false;
}
