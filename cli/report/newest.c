#include "cli/report/newest.h"

#include <glob.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

char *report_newest(void)
{
    struct timespec latest = { 0, 0 };
    const char *found = NULL;
    char *out = NULL;
    glob_t names;

    if (glob("sfb-*.sfbr", 0, NULL, &names) != 0)
        return NULL;
    for (size_t i = 0; i < names.gl_pathc; i++) {
        struct stat of;

        /* In a folder where others write, too, the newest may be theirs. */
        if (lstat(names.gl_pathv[i], &of) != 0 || !S_ISREG(of.st_mode) || of.st_uid != geteuid() ||
            (found && !is_later(&of.st_mtim, &latest)))
            continue;
        found = names.gl_pathv[i];
        latest = of.st_mtim;
    }
    if (found)
        out = strdup(found);
    globfree(&names);
    return out;
}
