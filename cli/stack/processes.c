#include "cli/stack/processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

static bool has(const struct process_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->pids[i] == pid)
            return true;
    return false;
}

static bool add(struct process_list *list, pid_t pid)
{
    if (has(list, pid) ||
        !array_make_room(&list->pids, list->count, &list->room, sizeof *list->pids))
        return false;
    list->pids[list->count++] = pid;
    return true;
}

/* Of one thread: each has its own. "12 13 " */
static void add_children(struct process_list *list, pid_t pid, const char *tid)
{
    char path[64], *line = NULL, *at, *end;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)pid, tid);
    file = fopen(path, "re");
    if (!file)
        return;
    at = getline(&line, &room, file) > 0 ? line : NULL;
    while (at) {
        const long child = strtol(at, &end, 10);

        if (end == at)
            break;
        add(list, (pid_t)child);
        at = end;
    }
    free(line);
    fclose(file);
}

void process_list_add(struct process_list *list, pid_t pid, bool with_children)
{
    /* The list grows meanwhile. */
    size_t next = list->count;

    add(list, pid);
    for (; with_children && next < list->count; next++) {
        char path[32];
        struct dirent *entry;
        DIR *tasks;

        snprintf(path, sizeof path, "/proc/%d/task", (int)list->pids[next]);
        tasks = opendir(path);
        while (tasks && (entry = readdir(tasks)))
            if (entry->d_name[0] != '.')
                add_children(list, list->pids[next], entry->d_name);
        if (tasks)
            closedir(tasks);
    }
}

void process_list_free(struct process_list *list)
{
    free(list->pids);
    *list = (struct process_list){ .count = 0 };
}

void process_name(char *out, size_t size, pid_t pid)
{
    char path[32];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    if (!file || !fgets(out, (int)size, file))
        snprintf(out, size, "?");
    if (file)
        fclose(file);
    out[strcspn(out, "\n")] = '\0';
}
