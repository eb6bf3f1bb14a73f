/* The commands of this sfb, and the errors for all other words. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/tool.h"

struct command_group {
    const char *title;                          /* NULL: behind the last one */
    const struct tool_command *const *commands; /* up to NULL */
};

/* In the order of `sfb --help`. */
extern const struct command_group command_groups[];

/* @return NULL: no command has that name */
const struct tool_command *commands_find(const char *name);

/* Complains of an unknown command, with suggestions. @return TOOL_USAGE */
enum tool_exit commands_complain(const char *name);

#endif
