/* What the parts of `sfb ctl` share. */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>

#include "tool.h"

struct ctl_request {
    const struct tool_command *command;
    const char *target; /* a process's number, or a file */
    const char *output; /* NULL: lines on stdout */
    bool list, remove, force, check_tails;
};

/* --list. */
enum tool_exit ctl_list(const struct ctl_request *request);

/* dump. */
enum tool_exit ctl_dump(const struct ctl_request *request);

#endif
