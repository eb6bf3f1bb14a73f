/*
 * A running process as a place of modules: its map, what it has as /, and its memory, out of which
 * come the build-ids and the vDSO. Where it may not be looked at, less is known, and no more.
 */
#ifndef OBJECT_PROCESS_H
#define OBJECT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "object/debug_file.h"
#include "object/process_maps.h"

/* Bytes of "/proc/PID/map_files/START-END". */
enum { OBJECT_PROCESS_PATH = 96 };

struct object_process {
    pid_t pid;
    struct object_maps maps;
    char root[32]; /* "/proc/PID/root"; "": it has our / */
    int memory;    /* descriptor of /proc/PID/mem; -1: it may not be read */
};

/*
 * Reads the memory map of a process.
 *
 * @param cause  why not
 * @return false: out is not to be closed
 */
bool object_process_open(struct object_process *out, pid_t pid, const char **cause);

void object_process_close(struct object_process *process);

/* What is known of a module of it, and what that needs. */
struct object_process_module {
    struct object_module module; /* borrows the process's strings */
    char opens[OBJECT_PROCESS_PATH];
    void *image;
};

/* @param index  of maps.modules */
void object_process_module(struct object_process_module *out, const struct object_process *process,
                           size_t index);

void object_process_module_free(struct object_process_module *module);

#endif
