#include "profiler/report/text/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"

#define LISTS  "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* A list of one package is larger than this in no release of Debian. */
enum { LIST_SIZE_MAX = 64 << 20 };

struct search {
    char *names[2]; /* "\npath\n": /lib may be a link to /usr/lib */
    char *text;
    size_t room;
};

/* @return bytes of a list, behind a line break; 0: it cannot be read */
static size_t read_list(struct search *s, int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat file;
    size_t size = 0;

    if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0 &&
        file.st_size <= LIST_SIZE_MAX &&
        array_make_room_for(&s->text, &s->room, (size_t)file.st_size + 1)) {
        const ssize_t count = read(fd, s->text + 1, (size_t)file.st_size);

        s->text[0] = '\n';
        size = count > 0 ? (size_t)count + 1 : 0;
    }
    if (fd >= 0)
        close(fd);
    return size;
}

static bool has_file(struct search *s, int folder, const char *name)
{
    const size_t size = read_list(s, folder, name);

    for (size_t i = 0; size > 0 && i < 2; i++)
        if (memmem(s->text, size, s->names[i], strlen(s->names[i])))
            return true;
    return false;
}

/* @return the size of the package's name in "libc6:amd64.list"; 0: no list */
static size_t package_size(const char *name)
{
    const size_t size = strlen(name);

    if (size <= strlen(SUFFIX) || strcmp(name + size - strlen(SUFFIX), SUFFIX) != 0)
        return 0;
    return strcspn(name, ":") < size ? strcspn(name, ":") : size - strlen(SUFFIX);
}

static bool find(struct search *s, char *out, size_t room)
{
    DIR *folder = opendir(LISTS);
    bool found = false;

    for (const struct dirent *e; folder && !found && (e = readdir(folder)) != NULL;) {
        const size_t size = package_size(e->d_name);

        if (size == 0 || size >= room || !has_file(s, dirfd(folder), e->d_name))
            continue;
        memcpy(out, e->d_name, size);
        out[size] = '\0';
        found = true;
    }
    if (folder)
        closedir(folder);
    return found;
}

bool report_package_of(char *out, size_t room, const char *path)
{
    struct search s = { .text = NULL };
    const bool in_usr = strncmp(path, "/usr/", 5) == 0;
    bool found = false;

    if (strchr(path, '\n'))
        return false;
    if (asprintf(&s.names[0], "\n%s\n", path) < 0)
        s.names[0] = NULL;
    if (asprintf(&s.names[1], "\n%s%s\n", in_usr ? "" : "/usr", in_usr ? path + 4 : path) < 0)
        s.names[1] = NULL;
    if (s.names[0] && s.names[1])
        found = find(&s, out, room);
    free(s.names[0]);
    free(s.names[1]);
    free(s.text);
    return found;
}
