/* Facts from /proc about the process that a live table names: live_map.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/collector/live/live_map.h"
#include "util/proc_stat.h"

uint64_t live_process_ticks(uint64_t pid)
{
    char path[64], text[1024];
    const char *at;
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    at = sfb_proc_stat_word(text, 22);
    return at ? strtoull(at, NULL, 10) : 0;
}

/* If its maps cannot be read, the answer is yes. */
bool live_process_has_mapped(uint64_t pid, int fd)
{
    char path[64], line[1024];
    struct stat file;
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%lu/maps", (unsigned long)pid);
    maps = fopen(path, "re");
    if (!maps || fstat(fd, &file) != 0) {
        if (maps)
            fclose(maps);
        return true;
    }
    while (!found && fgets(line, sizeof line, maps)) {
        const char *at = line; /* the fifth word is the inode */

        for (int i = 0; at && i < 4; i++) {
            at = strchr(at, ' ');
            at = at ? at + strspn(at, " ") : NULL;
        }
        found = at && strtoull(at, NULL, 10) == file.st_ino;
    }
    fclose(maps);
    return found;
}

/* The line "Uid:" of /proc/PID/status: real, effective, saved, of the file system. */
static bool has_no_other_user(FILE *status, uid_t user)
{
    char line[256];

    while (fgets(line, sizeof line, status)) {
        char *at = line + 4;
        int same = 0;

        if (strncmp(line, "Uid:", 4) != 0)
            continue;
        while (same < 4 && strtoul(at, &at, 10) == user)
            same++;
        return same == 4;
    }
    return false;
}

/* The files of a process that the kernel keeps from its user belong to root: proc(5), "dumpable". */
bool live_process_is_of(uint64_t pid, uid_t user)
{
    struct stat owned;
    char path[64];
    FILE *status;
    bool is;

    snprintf(path, sizeof path, "/proc/%lu/status", (unsigned long)pid);
    status = fopen(path, "re");
    if (!status)
        return false;
    is = fstat(fileno(status), &owned) == 0 && owned.st_uid == user &&
         has_no_other_user(status, user);
    fclose(status);
    return is;
}

/* @return how many numbers a file of /proc begins with, at most three */
static int read_numbers(const char *path, unsigned long out[3])
{
    FILE *file = fopen(path, "re");
    char line[128], *at = line, *behind;
    int count = 0;

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    for (; count < 3; count++, at = behind) {
        out[count] = strtoul(at, &behind, 10);
        if (behind == at)
            break;
    }
    fclose(file);
    return count;
}

bool live_user_is_one(uid_t user)
{
    enum { OVERFLOW_UID = 65534 };
    unsigned long none[3], map[3];

    if (read_numbers("/proc/sys/kernel/overflowuid", none) < 1)
        none[0] = OVERFLOW_UID;
    return user != none[0] ||
           (read_numbers("/proc/self/uid_map", map) == 3 && map[0] == 0 && map[2] == UINT32_MAX);
}
