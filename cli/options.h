/* Parsing of a command's options, and its errors: option_table.h. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>

#include "cli/tool.h"

/*
 * Gives the next option of a command, with --help done here. Its argument is in optarg, as getopt_long() has it.
 *
 * @return its `value`; -1 after the last one; '?' when the command has to stop with *exit_status
 */
int options_next(const struct tool_command *command, int argc, char **argv,
                 enum tool_exit *exit_status);

#endif
