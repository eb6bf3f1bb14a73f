#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/parts.h"
#include "util/base_name.h"
#include "util/output.h"

bool record_keep_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
            return false;
    return true;
}

static int make(struct record_file *out)
{
    const int fd = open(out->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    out->made = fd >= 0;
    return fd;
}

/*
 * A pipe or a device cannot be overwritten: it is written to where the user has named it. A file that is written anew may be
 * open in a reader: it gets another one.
 *
 * @param asked  the user has named it; else another user of the folder may have chosen what stands there
 */
static int open_existing(struct record_file *out, bool asked, bool force, const char **cause)
{
    struct stat file;

    if ((asked ? stat(out->name, &file) : lstat(out->name, &file)) != 0)
        return -1;
    if (!S_ISREG(file.st_mode)) {
        if (asked)
            return output_open_special(out->name, cause);
        *cause = "there is something of that name that is no file; -o names another one";
        return -1;
    }
    if (!force) {
        errno = EEXIST;
        return -1;
    }
    return unlink(out->name) == 0 ? make(out) : -1;
}

bool record_file_open(struct record_file *out, const struct record_request *request,
                      const char *program, pid_t pid)
{
    const char *cause = NULL;

    if (request->output)
        snprintf(out->name, sizeof out->name, "%s", request->output);
    else
        snprintf(out->name, sizeof out->name, "sfb-%s-%ld.sfbr", sfb_base_name(program), (long)pid);
    out->fd = make(out);
    if (out->fd < 0 && errno == EEXIST)
        out->fd = open_existing(out, request->output != NULL, request->force, &cause);
    if (out->fd >= 0)
        return true;
    if (cause)
        tool_complain(TOOL_FAILED, "record: %s: %s", out->name, cause);
    else if (errno == EEXIST)
        tool_complain(TOOL_FAILED, "record: %s exists; -f overwrites it", out->name);
    else
        tool_complain(TOOL_FAILED, "record: %s: %s", out->name, strerror(errno));
    return false;
}

void record_file_drop(const struct record_file *file)
{
    if (file->made)
        unlink(file->name);
}
