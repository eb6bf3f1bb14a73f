/*
 * A running process as a source of modules: its map, its root, and its memory, for build-ids and
 * the vDSO. Without permission fewer facts are known.
 */
#ifndef SYMBOLS_PROCESS_H
#define SYMBOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "symbols/debug_file.h"
#include "symbols/process_maps.h"

/* Bytes of "/proc/PID/map_files/START-END". */
enum { OBJECT_PROCESS_PATH = 96 };

struct object_process {
    pid_t pid;
    struct object_maps maps;
    char root[32]; /* "/proc/PID/root"; "": our / */
    int memory;    /* descriptor of /proc/PID/mem; -1: no permission */
};

/*
 * Reads the memory map of a process.
 *
 * @param cause  why not
 * @return false: out needs no closing
 */
bool object_process_open(struct object_process *out, pid_t pid, const char **cause);

void object_process_close(struct object_process *process);

/* The facts about one of its modules, with their buffers. */
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
