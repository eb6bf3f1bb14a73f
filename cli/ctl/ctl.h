/* What the parts of `sfb ctl` share. */
#ifndef CLI_CTL_CTL_H
#define CLI_CTL_CTL_H

#include <stdbool.h>

#include "cli/tool.h"
#include "profiler/collector/live/live_map.h"

struct ctl_request {
    const struct tool_command *command;
    const char *target; /* a process's number, or a file */
    uint64_t address;   /* of block */
    const char *output; /* NULL: lines on stdout */
    bool list, remove, force, check_tails;
};

/* @param out  to be closed on success. @return false after a complaint */
bool ctl_open_target(struct live_map *out, const char *target);

/* --list. */
enum tool_exit ctl_list(const struct ctl_request *request);

/* dump. */
enum tool_exit ctl_dump(const struct ctl_request *request);

/* block. */
enum tool_exit ctl_block(const struct ctl_request *request);

#endif
