#include "profiler/agent/live/exit_report.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat at_start;
static bool wanted;

void sfb_live_exit_report_begin(void)
{
    wanted = fstat(STDERR_FILENO, &at_start) == 0;
}

/* A program may have closed it, and opened a file of its own. */
static bool has_stderr(void)
{
    struct stat now;

    return wanted && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == at_start.st_dev &&
           now.st_ino == at_start.st_ino;
}

void sfb_live_exit_report(const struct sfb_live *map, const char *path)
{
    const unsigned long count =
                            (unsigned long)__atomic_load_n(&map->counts.overruns, __ATOMIC_RELAXED),
                        headers = (unsigned long)__atomic_load_n(&map->headers, __ATOMIC_RELAXED),
                        told = count > 0 ? count : headers;
    char line[PATH_MAX + 256];
    int size;

    if (told == 0 || !has_stderr())
        return;
    size = snprintf(line, sizeof line, "sfb: heap: process %u has %s of %lu %s%s%s%s\n", map->pid,
                    count > 0 ? "written past the end" : "overwritten the allocator's sizes", told,
                    told == 1 ? "block" : "blocks", path[0] ? ": sfb ctl " : "", path,
                    path[0] ? " dump" : "");
    if (size > 0 && write(STDERR_FILENO, line, (size_t)size) < 0)
        return;
}
