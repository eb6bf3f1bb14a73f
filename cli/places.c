#include "cli/places.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "cli/options.h"
#include "symbols/packed.h"
#include "util/number.h"

const struct tool_option places_options[] = {
    { OPTION_SYMBOL_PATH, 0, "symbol-path", TAKES_ARGUMENT, "DIR",
      "look for files in this folder, too, by build-id or anywhere below it; may be given 16 "
      "times" },
    { OPTION_DEBUGINFOD, 0, "debuginfod", TAKES_NOTHING, NULL,
      "ask the servers of $DEBUGINFOD_URLS for files that are not here: it tells them what you "
      "run, and waits $DEBUGINFOD_TIMEOUT seconds (90)" },
    { OPTION_MAX_UNPACKED, 0, "max-unpacked", TAKES_ARGUMENT, "SIZE",
      "take debug information whose sections unpack to up to so many bytes, or with k, M or G, "
      "where that is 32 times and more of what they are (64M)" },
    OPTIONS_END,
};

static bool add_folder(struct places *p, const struct tool_command *command, const char *folder,
                       enum tool_exit *exit_status)
{
    struct object_symbol_path *path;

    if (p->object.path_count == PLACES_MAX) {
        *exit_status = tool_misused(command, "more than %d folders of files", PLACES_MAX);
        return false;
    }
    path = object_symbol_path_open(folder);
    if (!path) {
        *exit_status = tool_complain(TOOL_USAGE, "%s: %s", folder, strerror(errno));
        return false;
    }
    p->paths[p->object.path_count++] = path;
    p->object.paths = p->paths;
    return true;
}

static bool add_servers(struct places *p, const struct tool_command *command,
                        enum tool_exit *exit_status)
{
    const char *cause;

    if (!p->object.debuginfod)
        p->object.debuginfod = object_debuginfod_open(&cause);
    if (!p->object.debuginfod)
        *exit_status = tool_misused(command, "--debuginfod: %s", cause);
    return p->object.debuginfod != NULL;
}

static bool allow_unpacked(const struct tool_command *command, const char *size,
                           enum tool_exit *exit_status)
{
    uint64_t bytes;

    if (!number_of_bytes(size, &bytes)) {
        *exit_status = tool_misused(command, "'%s' is no size: bytes, or with k, M or G", size);
        return false;
    }
    object_packed_allow(bytes);
    return true;
}

bool places_take(struct places *p, const struct tool_command *command, int option,
                 enum tool_exit *exit_status)
{
    switch (option) {
    case OPTION_SYMBOL_PATH: return add_folder(p, command, optarg, exit_status);
    case OPTION_DEBUGINFOD: return add_servers(p, command, exit_status);
    case OPTION_MAX_UNPACKED: return allow_unpacked(command, optarg, exit_status);
    default: return false;
    }
}

void places_close(struct places *p)
{
    for (size_t i = 0; i < p->object.path_count; i++)
        object_symbol_path_close(p->paths[i]);
    object_debuginfod_close(p->object.debuginfod);
    p->object = (struct object_places){ .path_count = 0 };
}
