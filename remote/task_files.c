#include "remote/task_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/proc_stat.h"

enum { TEXT_MAX = 4096 };

static int open_in(int tasks, pid_t tid, const char *name)
{
    char path[48];

    snprintf(path, sizeof path, "%d/%s", (int)tid, name);
    return openat(tasks, path, O_RDONLY | O_CLOEXEC);
}

/* @return false: errno says why not */
static bool read_text(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);

    if (got < 0)
        return false;
    text[got] = '\0';
    return true;
}

bool remote_task_files_open(struct remote_task_files *out, int tasks, pid_t tid)
{
    out->run = -1;
    out->call = open_in(tasks, tid, "syscall");
    if (out->call < 0)
        return false;
    out->run = open_in(tasks, tid, "schedstat");
    return true;
}

void remote_task_files_close(struct remote_task_files *files)
{
    close(files->call);
    if (files->run >= 0)
        close(files->run);
}

/* "202 0x7f.. 0x80 0x0 0x0 0x0 0xffffffff SP PC", "-1 SP PC", or "running". */
void remote_task_call_read(struct remote_task_call *out, const struct remote_task_files *files)
{
    char text[256], *at;

    *out = (struct remote_task_call){ .where = REMOTE_TASK_RUNS };
    if (!read_text(files->call, text, sizeof text)) {
        out->where = errno == ESRCH ? REMOTE_TASK_GONE : REMOTE_TASK_REFUSED;
        return;
    }
    if (text[0] == '\0') /* it has ended, and was not waited for */
        out->where = REMOTE_TASK_GONE;
    if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
        return;
    out->number = strtoll(text, &at, 10);
    out->in_call = out->number >= 0;
    for (unsigned i = 0; out->in_call && i < 6; i++)
        out->argument[i] = strtoull(at, &at, 16);
    out->sp = strtoull(at, &at, 16);
    out->pc = strtoull(at, &at, 16);
    if (*at == '\n' && out->pc != 0)
        out->where = REMOTE_TASK_SLEEPS;
}

void remote_task_call_keep(struct remote_task_call *now, const struct remote_task_call *asleep)
{
    if (asleep->in_call && asleep->sp == now->sp && asleep->pc == now->pc)
        *now = *asleep;
}

bool remote_task_run_read(struct remote_task_run *out, const struct remote_task_files *files)
{
    char text[128], *at;

    *out = (struct remote_task_run){ .cpu_time = 0 };
    if (files->run < 0 || !read_text(files->run, text, sizeof text))
        return false;
    out->cpu_time = strtoull(text, &at, 10);
    out->waited = strtoull(at, &at, 10);
    out->turns = strtoull(at, &at, 10);
    return out->turns != 0;
}

/* @return false: errno says why not */
static bool read_file(int tasks, pid_t tid, const char *name, char *text, size_t size)
{
    int fd = open_in(tasks, tid, name), error;
    bool read = fd >= 0 && read_text(fd, text, size);

    if (read && text[0] == '\0') { /* some kernels give no text of a thread that has ended */
        read = false;
        errno = ESRCH;
    }
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return read;
}

/* @return a word of /proc/PID/stat; 0: the text ends before it */
static uint64_t number_at(const char *text, unsigned word)
{
    const char *at = sfb_proc_stat_word(text, word);

    return at ? strtoull(at, NULL, 10) : 0;
}

bool remote_task_stat_read(struct remote_task_stat *out, int tasks, pid_t tid)
{
    const char *open, *close, *state;
    char text[1024];

    if (!read_file(tasks, tid, "stat", text, sizeof text))
        return false;
    open = strchr(text, '(');
    close = strrchr(text, ')');
    state = sfb_proc_stat_word(text, 3);
    if (!open || !close || close < open || !state) {
        errno = EINVAL;
        return false;
    }
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    out->state = *state;
    out->started = number_at(text, 22);
    out->image =
        (struct remote_task_image){ number_at(text, 26), number_at(text, 27), number_at(text, 28) };
    return true;
}

bool remote_task_count(size_t *out, int tasks)
{
    enum { OWN = 2 }; /* "." and ".." */
    struct stat folder;

    if (fstat(tasks, &folder) != 0 || folder.st_nlink <= OWN)
        return false;
    *out = folder.st_nlink - OWN;
    return true;
}

static uint64_t mask_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

uint64_t remote_task_signals(int tasks, pid_t tid)
{
    char text[TEXT_MAX];

    if (!read_file(tasks, tid, "status", text, sizeof text) || !strstr(text, "\nSigBlk:\t"))
        return UINT64_MAX;
    return (mask_of(text, "\nSigPnd:\t") | mask_of(text, "\nShdPnd:\t")) &
           ~mask_of(text, "\nSigBlk:\t");
}

/* "NSpid:\t4711\t12\n": the last one is that of the innermost namespace. */
pid_t remote_task_own_number(bool *nested, int tasks, pid_t tid)
{
    char text[TEXT_MAX], *at, *end;
    pid_t number = tid;
    unsigned count = 0;

    *nested = false;
    if (!read_file(tasks, tid, "status", text, sizeof text))
        return 0;
    at = strstr(text, "\nNSpid:");
    if (!at)
        return tid;
    for (at += strlen("\nNSpid:"); *at == '\t'; at = end) {
        number = (pid_t)strtol(at, &end, 10);
        count++;
    }
    *nested = count > 1;
    return number;
}

static int by_number(const void *a, const void *b)
{
    const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

/* @return false: errno says why the list is not whole */
static bool read_list(pid_t **out, size_t *count, DIR *folder)
{
    struct dirent *entry;
    size_t room = 0;

    for (errno = 0; (entry = readdir(folder)); errno = 0) {
        long tid = strtol(entry->d_name, NULL, 10);

        if (tid <= 0)
            continue;
        if (!array_make_room(out, *count, &room, sizeof **out))
            return false;
        (*out)[(*count)++] = (pid_t)tid;
    }
    return errno == 0 || remote_task_has_ended(errno);
}

ssize_t remote_task_list(pid_t **out, int tasks)
{
    int fd = openat(tasks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    size_t count = 0;
    bool whole;

    *out = NULL;
    whole = folder && read_list(out, &count, folder);
    error = errno;
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    errno = error;
    if (!whole) {
        free(*out);
        *out = NULL;
        return -1;
    }
    if (count > 0)
        qsort(*out, count, sizeof **out, by_number);
    return (ssize_t)count;
}
