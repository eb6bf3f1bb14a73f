/* The options that say where files are looked for: --symbol-path DIR, --debuginfod. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>

#include "object/debug_file.h"
#include "tool.h"

/* Folders that may be named. */
enum { PLACES_MAX = 16 };

struct places {
    struct object_places object;
    struct object_symbol_path *paths[PLACES_MAX];
};

/* @return false after a complaint: it is no folder, or one too many */
bool places_add_folder(struct places *places, const struct tool_command *command,
                       const char *folder, enum tool_exit *exit_status);

/* @return false after a complaint: there is no library, or no server is named */
bool places_add_servers(struct places *places, const struct tool_command *command,
                        enum tool_exit *exit_status);

/* @return false after a complaint: it is no size */
bool places_allow_unpacked(const struct tool_command *command, const char *size,
                           enum tool_exit *exit_status);

void places_close(struct places *places);

#define PLACES_USAGE                                                                               \
    "  --symbol-path DIR  look for files in this folder, too, by build-id or anywhere below it;\n" \
    "                   may be given 16 times\n"                                                   \
    "  --debuginfod     ask the servers of $DEBUGINFOD_URLS for files that are not here: it "      \
    "tells\n"                                                                                      \
    "                   them what you run, and waits $DEBUGINFOD_TIMEOUT seconds (90)\n"           \
    "  --max-unpacked SIZE  take debug information whose sections unpack to up to so many "        \
    "bytes,\n"                                                                                     \
    "                   or with k, M or G, where that is 32 times and more of what they are "      \
    "(64M)\n"

#endif
