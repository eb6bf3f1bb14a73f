/* What /proc says of the process that a live table names: live_map.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "live_map.h"

/* When it started: word 22 of /proc/PID/stat. */
uint64_t live_process_ticks(uint64_t pid)
{
    char path[64], text[1024], *at;
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* One that may not be looked at is believed to. */
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
        const char *at = line; /* the fifth word is its inode */

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
bool live_process_has_user(uint64_t pid, uid_t user)
{
    char path[64], line[256];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%lu/status", (unsigned long)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        char *at = line + 4;

        if (strncmp(line, "Uid:", 4) != 0)
            continue;
        for (int i = 0; i < 4 && !found; i++)
            found = strtoul(at, &at, 10) == user;
        break;
    }
    fclose(file);
    return found;
}
