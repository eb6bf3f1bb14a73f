#include "cli/report/texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/read_all.h"

/* Larger files are no sources. */
enum { TEXT_MAX = 64 << 20 };

static char *read_all(int fd, size_t expected, size_t *size)
{
    char *bytes = malloc(expected + 1);

    *size = bytes ? sfb_read_all(fd, bytes, expected) : 0;
    if (bytes)
        bytes[*size] = '\0';
    return bytes;
}

/* Of a regular file: a name from a recording may be that of a pipe or a device. */
static char *read_file(const char *path, uint64_t time, size_t *size, bool *changed)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *bytes = NULL;
    struct stat of;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &of) == 0 && S_ISREG(of.st_mode) && of.st_size <= TEXT_MAX) {
        bytes = read_all(fd, (size_t)of.st_size, size);
        *changed = of.st_mtim.tv_sec > (time_t)(time / 1000000000U);
    }
    close(fd);
    return bytes;
}

/* All of the path below a folder, then less and less of its beginning: the sources were somewhere else. */
static char *read_below(const char *folder, const char *path, uint64_t time, size_t *size,
                        bool *changed)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        char *name, *bytes;

        part += strspn(part, "/");
        if (strncmp(part, "..", 2) == 0 || asprintf(&name, "%s/%s", folder, part) < 0)
            continue;
        bytes = read_file(name, time, size, changed);
        free(name);
        if (bytes)
            return bytes;
    }
    return NULL;
}

static char *read_text(void *user, const char *path, uint64_t time, size_t *size, bool *changed)
{
    const struct report_request *r = user;
    char *bytes = path[0] == '/' ? read_file(path, time, size, changed) : NULL;

    for (size_t i = 0; !bytes && i < r->folder_count; i++)
        bytes = read_below(r->folders[i], path, time, size, changed);
    return bytes;
}

struct report_texts report_texts_of(const struct report_request *r)
{
    return (struct report_texts){ .user = (void *)(uintptr_t)r, .read = read_text };
}
