/* Finds the table that an argument names: the number of its process, or its file. */
#include <stdlib.h>
#include <string.h>

#include "cli/ctl/ctl.h"
#include "util/number.h"

/* @return false: it cannot be read, or may not be shown as the process's; reported */
static bool open_file(struct live_map *out, const struct live_map_file *file)
{
    const char *cause = live_map_open_found(out, file);

    if (!cause && live_map_is_trusted(out))
        return true;
    if (cause) {
        tool_complain(TOOL_BAD_DATA, "%s: %s", file->path, cause);
        return false;
    }
    tool_complain(TOOL_BAD_DATA,
                  "%s: not read: it is of user %lu, and process %lu is not, or not alone. To read "
                  "it, name it",
                  file->path, (unsigned long)out->owner, (unsigned long)file->pid);
    live_map_close(out);
    return false;
}

/*
 * A process may have several files: of earlier processes with its number, and of other users. The file with the process's
 * start is taken, else the last one.
 */
static bool open_of_process(struct live_map *out, uint64_t pid)
{
    struct live_map_file *files;
    const size_t found = live_map_find(pid, &files), count = found == SIZE_MAX ? 0 : found;
    const uint64_t ticks = live_process_ticks(pid);
    bool opened = false;

    for (size_t i = count; i > 0 && !opened; i--)
        opened = files[i - 1].ticks == ticks && open_file(out, &files[i - 1]);
    for (size_t i = count; i > 0 && !opened; i--)
        opened = files[i - 1].ticks != ticks && open_file(out, &files[i - 1]);
    if (count == 0)
        tool_complain(TOOL_USAGE, "process %lu has no live table here: see 'sfb ctl --list'",
                      (unsigned long)pid);
    free(files);
    return opened;
}

bool ctl_is_process(const char *target, uint64_t *pid)
{
    return number_of_argument(target, pid) && *pid > 0 && *pid <= INT32_MAX;
}

bool ctl_has_table(const char *target)
{
    struct live_map_file *files;
    bool found = false;
    uint64_t pid;
    size_t count;

    if (!ctl_is_process(target, &pid))
        return false;
    count = live_map_find(pid, &files);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++)
        found |= files[i].ticks == live_process_ticks(pid);
    free(files);
    return found;
}

bool ctl_open_target(struct live_map *out, const char *target)
{
    const char *cause;
    uint64_t pid;

    if (ctl_is_process(target, &pid))
        return open_of_process(out, pid);
    if (target[strspn(target, "0123456789")] == '\0') {
        tool_complain(TOOL_USAGE, "'%s' is no number of a process", target);
        return false;
    }
    cause = live_map_open(out, target);
    if (cause)
        tool_complain(TOOL_BAD_DATA, "%s: %s", target, cause);
    return cause == NULL;
}
