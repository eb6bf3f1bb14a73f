#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ctl/ctl.h"
#include "profiler/collector/live/live_map.h"
#include "util/foreign.h"

static const char *const states[] = {
    [LIVE_MAP_RUNNING] = "running",
    [LIVE_MAP_HELD] = "held",
    [LIVE_MAP_GONE] = "gone",
    [LIVE_MAP_REPLACED] = "replaced",
};

/* Removes the file of a table without a writer. Files that are not tables of ours are kept. */
static bool remove_stale(const struct live_map *map, const char *path, enum tool_exit *exit_status)
{
    if (map->state == LIVE_MAP_RUNNING || map->state == LIVE_MAP_HELD)
        return false;
    if (live_map_remove(map, path))
        return true;
    *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
    return false;
}

static void show(const struct live_map_file *file, bool remove, enum tool_exit *exit_status)
{
    struct live_map map;
    const char *cause = live_map_open_found(&map, file);
    char program[SFB_LIVE_TEXT + 1];
    bool removed;

    if (cause) {
        *exit_status =
            tool_worse(*exit_status, tool_complain(TOOL_BAD_DATA, "%s: %s", file->path, cause));
        return;
    }
    removed = remove && remove_stale(&map, file->path, exit_status);
    snprintf(program, sizeof program, "%.*s", (int)map.head.text_size, map.head.text);
    printf("%7u  %-8s  ", map.head.pid, removed ? "removed" : states[map.state]);
    foreign_print(stdout, program[0] ? program : "?");
    fputs("  ", stdout);
    foreign_print(stdout, file->path);
    putchar('\n');
    live_map_close(&map);
}

enum tool_exit ctl_list(const struct ctl_request *r)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct live_map_file *files;
    const size_t count = live_map_find(0, &files);

    if (count == SIZE_MAX) {
        free(files);
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    if (count > 0)
        puts("process  state     program  file");
    for (size_t i = 0; i < count; i++)
        show(&files[i], r->remove, &exit_status);
    if (count == 0)
        tool_complain(TOOL_DONE, "no live tables here");
    free(files);
    return exit_status;
}
