/* A process's descendants, as the kernel lists them. */
#ifndef CLI_STACK_PROCESSES_H
#define CLI_STACK_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process_list {
    pid_t *pids; /* parents before their children */
    size_t count, room;
};

/* Adds a process and, if wanted, all below it that are there now. */
void process_list_add(struct process_list *list, pid_t pid, bool with_children);

void process_list_free(struct process_list *list);

/* Writes the name of a process, as far as it fits; "?": not known. */
void process_name(char *out, size_t size, pid_t pid);

#endif
