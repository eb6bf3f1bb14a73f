#include "profiler/agent/cpu/own_tasks.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/proc_stat.h"

/* struct linux_dirent64, which no header declares: inode and offset, then these members. */
enum { SIZE_AT = 16, NAME_AT = 19 };

/* readdir() allocates; the raw system call does not. */
void sfb_tasks(void (*each)(pid_t tid, void *with), void *with)
{
    char entries[2048];
    long size;
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    while ((size = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < size;) {
            const char *name = entries + at + NAME_AT;
            uint16_t entry_size;

            memcpy(&entry_size, entries + at + SIZE_AT, sizeof entry_size);
            if (isdigit((unsigned char)*name))
                each((pid_t)strtol(name, NULL, 10), with);
            at += entry_size;
        }
    close(fd);
}

char sfb_task_state(pid_t tid)
{
    char path[64], text[256];
    const char *state;
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    state = sfb_proc_stat_word(text, 3);
    return state ? *state : (char)0;
}
