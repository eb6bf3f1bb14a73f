/* The options that say where files are looked for, of each command that names functions. */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include <stdbool.h>

#include "cli/tool.h"
#include "symbols/debug_file.h"

/* Folders that may be named. */
enum { PLACES_MAX = 16 };

struct places {
    struct object_places object;
    struct object_symbol_path *paths[PLACES_MAX];
};

/* What options_next() gives: above the options of any command. */
enum places_option { OPTION_SYMBOL_PATH = 1024, OPTION_DEBUGINFOD, OPTION_MAX_UNPACKED };

extern const struct tool_option places_options[];

/* Takes one of them. @return false after a complaint */
bool places_take(struct places *places, const struct tool_command *command, int option,
                 enum tool_exit *exit_status);

void places_close(struct places *places);

#endif
