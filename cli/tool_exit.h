/* What the sfb command exits with. */
#ifndef CLI_TOOL_EXIT_H
#define CLI_TOOL_EXIT_H

enum tool_exit {
    TOOL_DONE = 0,
    TOOL_BAD_DATA = 1, /* findings, or data that contradicts its format */
    TOOL_USAGE = 2,    /* wrong arguments, or input or output that cannot be read or written */
    /* Of commands that run a program, whose own status is theirs: env(1)'s. */
    TOOL_FAILED = 125,
    TOOL_NOT_EXECUTABLE = 126,
    TOOL_NOT_FOUND = 127
};

#endif
