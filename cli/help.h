/* What `--help` prints, made of a command's texts and options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/tool.h"

/* Of every command, behind its own. */
extern const struct tool_option help_option;

/* Prints `sfb NAME --help`. */
void help_print(const struct tool_command *command);

/* Prints text, a paragraph a line, broken into lines of 80 columns. */
void help_print_text(const char *text);

/*
 * Prints each option of a command as a line: command, group, letter, name, argument, text, with tabs between. An argument
 * that may be left out stands in [].
 */
void help_print_table(const struct tool_command *command);

#endif
