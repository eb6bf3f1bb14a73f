/* The commands that this sfb has, and what is said of others. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "tool.h"

struct command_group {
    const char *title;                          /* NULL: behind the last one */
    const struct tool_command *const *commands; /* up to NULL */
};

/* In the order of `sfb --help`. */
extern const struct command_group command_groups[];

/* @return NULL: there is none of that name */
const struct tool_command *commands_find(const char *name);

/* Says that there is none of that name, and what may have been meant. @return TOOL_USAGE */
enum tool_exit commands_complain(const char *name);

#endif
