#include "profiler/collector/processes/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/proc_stat.h"

enum { FILE_MAX_SIZE = 4096, DEPTH_MAX = 256 };

/* Without a descriptor or memory it is not known whether a thread has ended. */
static bool has_ended(int error)
{
    return error == ENOENT || error == ESRCH;
}

/* @return bytes read, '\0'-terminated; 0: unreadable, and errno says why */
static size_t read_file(char *out, size_t room, const char *format, long number)
{
    char path[64];
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", number, format);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    errno = ESRCH; /* some kernels give no text of a process that has ended */
    size = read(fd, out, room - 1);
    close(fd);
    out[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

/* The same for a file of any size. @return to be freed; NULL: unreadable. errno: 0, or why it is not whole */
static char *read_all(const char *format, long number, size_t *out_size)
{
    char path[128], *out = NULL, *grown;
    size_t size = 0, room = 0;
    ssize_t more = 1;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", number, format);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    errno = 0;
    while (more > 0) {
        if (room - size < FILE_MAX_SIZE / 2) {
            room += FILE_MAX_SIZE;
            grown = realloc(out, room);
            if (!grown)
                break;
            out = grown;
        }
        more = read(fd, out + size, room - size - 1);
        size += more > 0 ? (size_t)more : 0;
    }
    close(fd);
    if (out)
        out[size] = '\0';
    *out_size = size;
    return out;
}

bool sfb_recorder_tasks_known(void)
{
    return access("/proc/self/stat", R_OK) == 0;
}

pid_t sfb_recorder_task_parent(pid_t pid)
{
    char text[FILE_MAX_SIZE];
    const char *parent;

    if (read_file(text, sizeof text, "stat", pid) == 0)
        return 0;
    parent = sfb_proc_stat_word(text, 4);
    return parent ? (pid_t)strtol(parent, NULL, 10) : 0;
}

bool sfb_recorder_task_is_ours(pid_t pid)
{
    const pid_t self = getpid();

    for (int i = 0; i < DEPTH_MAX && pid > 1; i++) {
        pid = sfb_recorder_task_parent(pid);
        if (pid == self)
            return true;
    }
    return false;
}

/* Parses the first and last number after a word of /proc/TID/status. @return how many there are */
static int numbers(const char *status, const char *word, long *first, long *last)
{
    const char *at = strstr(status, word);
    int count = 0;

    if (!at)
        return 0;
    for (at += strlen(word); *at != '\n' && *at != '\0'; count++) {
        char *end;

        *last = strtol(at, &end, 10);
        if (end == at)
            break;
        if (count == 0)
            *first = *last;
        at = end;
    }
    return count;
}

/* Parses a number after a word, skipping `skip` others. @return 0: missing */
static uint64_t number_of(const char *status, const char *word, int base, unsigned skip)
{
    const char *at = strstr(status, word);
    char *end = NULL;
    uint64_t number = 0;

    for (unsigned i = 0; at && i <= skip; i++)
        number = strtoull(i == 0 ? at + strlen(word) : end, &end, base);
    return number;
}

bool sfb_recorder_task_read(struct sfb_recorder_task *out, pid_t tid)
{
    char status[FILE_MAX_SIZE];
    long group = 0, own = 0, last;

    if (tid <= 0 || read_file(status, sizeof status, "status", tid) == 0 ||
        numbers(status, "\nTgid:", &group, &last) != 1)
        return false;
    /* "Uid:" lists the real, effective, saved and file-system user. */
    *out = (struct sfb_recorder_task){
        .group = (pid_t)group,
        .parent = (pid_t)number_of(status, "\nPPid:", 10, 0),
        .same = numbers(status, "\nNSpid:", &own, &last) == 1 && own == tid,
        .user = (unsigned)number_of(status, "\nUid:", 10, 1),
        .caught = number_of(status, "\nSigCgt:", 16, 0),
    };
    return true;
}

bool sfb_recorder_task_is_of(pid_t tid, pid_t pid, int signal)
{
    struct sfb_recorder_task task;

    return sfb_recorder_task_read(&task, tid) && task.group == pid && task.same &&
           (signal == 0 || sfb_recorder_task_catches(&task, signal));
}

/* What has ended has no threads and no children: that list is whole. */
static void set_error(int error)
{
    errno = has_ended(error) ? 0 : error;
}

size_t sfb_recorder_tasks_of(pid_t pid, pid_t *out, size_t room)
{
    struct dirent *entry;
    char path[64];
    size_t count = 0;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    folder = opendir(path);
    if (!folder) {
        set_error(errno);
        return 0;
    }
    for (errno = 0; count < room && (entry = readdir(folder)); errno = 0)
        if (isdigit((unsigned char)entry->d_name[0]))
            out[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    set_error(errno);
    closedir(folder);
    return count;
}

/* @return how many of `room` were written. errno: 0, or why they are not all */
static size_t children_of_thread(pid_t pid, long tid, pid_t *out, size_t room)
{
    char name[64], *text, *at, *end;
    size_t count = 0, size;
    int error;

    snprintf(name, sizeof name, "task/%ld/children", tid);
    text = at = read_all(name, pid, &size);
    error = errno;
    for (long child; at && count < room && (child = strtol(at, &end, 10)) > 0 && end != at;
         at = end)
        out[count++] = (pid_t)child;
    free(text);
    set_error(error);
    return count;
}

size_t sfb_recorder_children_of(pid_t pid, pid_t *out, size_t room)
{
    struct dirent *entry;
    size_t count = 0;
    char path[64];
    int error = 0;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    folder = opendir(path);
    if (!folder) {
        set_error(errno);
        return 0;
    }
    for (errno = 0; count < room && (entry = readdir(folder)); errno = 0) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        count +=
            children_of_thread(pid, strtol(entry->d_name, NULL, 10), out + count, room - count);
        error = errno != 0 ? errno : error;
    }
    error = errno != 0 ? errno : error;
    closedir(folder);
    set_error(error);
    return count;
}

bool sfb_recorder_task_has_variable(pid_t pid, const char *name)
{
    const size_t length = strlen(name);
    size_t size = 0;
    char *text = read_all("environ", pid, &size), *at = text;
    bool found = false;

    while (at && !found && at < text + size) {
        found = strncmp(at, name, length) == 0 && at[length] == '=';
        at += strlen(at) + 1;
    }
    free(text);
    return found;
}

/* Without a free descriptor /proc seems to be empty. */
static bool can_open(void)
{
    char text[FILE_MAX_SIZE];

    return read_file(text, sizeof text, "stat", getpid()) != 0;
}

bool sfb_recorder_tasks_find(pid_t own, void (*found)(void *with, pid_t here), void *with)
{
    enum { FAMILY_MAX = 1024 };
    pid_t family[FAMILY_MAX] = { getpid() };
    size_t count = 1;
    bool all = can_open();

    for (size_t at = 0; at < count; at++) {
        char status[FILE_MAX_SIZE];
        long first, last = 0;

        if (at > 0 && read_file(status, sizeof status, "status", family[at]) == 0)
            all = false;
        else if (at > 0 && numbers(status, "\nNSpid:", &first, &last) > 1 && last == own)
            found(with, family[at]);
        count += sfb_recorder_children_of(family[at], family + count, FAMILY_MAX - count);
        all = all && errno == 0;
    }
    return all && count < FAMILY_MAX;
}

static bool is_dead(const char *stat)
{
    const char *state = sfb_proc_stat_word(stat, 3);

    return state && (*state == 'Z' || *state == 'X');
}

/* @return a word of /proc/PID/stat; 0: missing */
static uint64_t stat_number(const char *stat, unsigned word)
{
    const char *at = sfb_proc_stat_word(stat, word);

    return at ? strtoull(at, NULL, 10) : 0;
}

bool sfb_recorder_task_has_ended(pid_t pid)
{
    char text[FILE_MAX_SIZE];

    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    /* Word 20 counts the threads: the first one may have ended before the others. */
    return read_file(text, sizeof text, "stat", pid) != 0 && is_dead(text) &&
           stat_number(text, 20) <= 1;
}

bool sfb_recorder_task_is_dead(pid_t tid)
{
    char text[FILE_MAX_SIZE];

    return read_file(text, sizeof text, "stat", tid) != 0 && is_dead(text);
}

uint64_t sfb_recorder_task_started(pid_t tid)
{
    char text[FILE_MAX_SIZE];

    return read_file(text, sizeof text, "stat", tid) != 0 ? stat_number(text, 22) : 0;
}

static bool read_link(char *out, size_t room, const char *name, pid_t pid)
{
    char path[64];
    ssize_t size;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    size = readlink(path, out, room - 1);
    out[size > 0 ? size : 0] = '\0';
    return size > 0;
}

bool sfb_recorder_task_program(pid_t pid, char *out, size_t room)
{
    return read_link(out, room, "exe", pid);
}

size_t sfb_recorder_task_arguments(pid_t pid, char *out, size_t room)
{
    return read_file(out, room, "cmdline", pid);
}

bool sfb_recorder_task_shares(pid_t pid, const char *space)
{
    char name[32], own[64], other[64];

    snprintf(name, sizeof name, "ns/%.8s", space);
    return read_link(own, sizeof own, name, getpid()) &&
           read_link(other, sizeof other, name, pid) && strcmp(own, other) == 0;
}

bool sfb_recorder_task_space(pid_t pid, const char *space, uint64_t *out)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof path, "/proc/%ld/ns/%.8s", (long)pid, space);
    if (stat(path, &file) != 0)
        return false;
    *out = file.st_ino;
    return true;
}

bool sfb_recorder_task_has_our_files(pid_t pid)
{
    char own[FILE_MAX_SIZE], other[FILE_MAX_SIZE];

    return sfb_recorder_task_shares(pid, "mnt") && read_link(own, sizeof own, "root", getpid()) &&
           read_link(other, sizeof other, "root", pid) && strcmp(own, other) == 0;
}

/* /proc shows the offsets for children: the process's own, unless it has just unshared. */
bool sfb_recorder_task_clock_offset(pid_t pid, int64_t *out)
{
    static const long long seconds_max = 4000000000;
    static const char name[] = "monotonic";
    char text[FILE_MAX_SIZE], own[64], next[64], *at, *end;
    long long seconds, ns;

    if (!read_link(own, sizeof own, "ns/time", pid) ||
        !read_link(next, sizeof next, "ns/time_for_children", pid) || strcmp(own, next) != 0 ||
        read_file(text, sizeof text, "timens_offsets", pid) == 0 ||
        strncmp(text, name, sizeof name - 1) != 0)
        return false;
    seconds = strtoll(text + sizeof name - 1, &at, 10);
    ns = strtoll(at, &end, 10);
    if (end == at || llabs(seconds) > seconds_max)
        return false;
    *out = seconds * 1000000000 + ns;
    return true;
}

bool sfb_recorder_task_cpu(pid_t tid, uint64_t *out)
{
    char text[FILE_MAX_SIZE], *end;

    if (read_file(text, sizeof text, "schedstat", tid) == 0)
        return false;
    *out = strtoull(text, &end, 10);
    return end != text && *out != 0;
}

bool sfb_recorder_process_cpu(pid_t pid, uint64_t *out)
{
    /* Encoded as by clock_getcpuclockid(), which refuses ended processes. */
    const clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return false;
    *out = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    return true;
}

void sfb_recorder_task_name(pid_t pid, char *out, size_t size)
{
    char text[FILE_MAX_SIZE];

    if (read_file(text, sizeof text, "comm", pid) == 0)
        snprintf(text, sizeof text, "?");
    text[strcspn(text, "\n")] = '\0';
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

bool sfb_recorder_process_waited_cpu(pid_t pid, uint64_t *out)
{
    const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    char text[FILE_MAX_SIZE];

    if (read_file(text, sizeof text, "stat", pid) == 0)
        return false;
    *out = 0;
    for (unsigned word = 14; word <= 17; word++)
        *out += stat_number(text, word) * tick_ns;
    return true;
}

bool sfb_recorder_process_reaped(pid_t pid, uint64_t *out)
{
    static const unsigned words[] = { 11, 13, 16, 17 };
    char text[FILE_MAX_SIZE];

    if (read_file(text, sizeof text, "stat", pid) == 0)
        return false;
    *out = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *out += stat_number(text, words[i]);
    return true;
}

bool sfb_recorder_process_resident(pid_t pid, uint64_t *out)
{
    char text[FILE_MAX_SIZE];
    const char *second;

    if (read_file(text, sizeof text, "statm", pid) == 0 || !(second = strchr(text, ' ')))
        return false;
    *out = strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    return *out != 0;
}
