/*
 * Names for addresses of a process, from the symbol tables and the debug information of its
 * modules.
 *
 * All of libdwfl is behind this. It looks for files on this machine only: debuginfod, which would
 * download them, is switched off.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tool.h"

struct symbols; /* opaque */

/* One function at an address: itself, or one that was inlined into the next. */
struct symbols_function {
    const char *name;   /* NULL: not known */
    uint64_t start;     /* of a function that is not inlined, in the process */
    const char *file;   /* base name; NULL: not known */
    int line;           /* 0: not known */
    const char *module; /* base name; NULL: no module is at the address */
    bool inlined;
};

/* A module of a process that is gone, as a crash report has it. */
struct symbols_module {
    uint64_t start, end; /* where it was loaded */
    char *path;          /* as the process knew it */
    uint8_t build_id[64];
    size_t size;  /* bytes of build_id; 0: none */
    bool refused; /* set when it was looked at: no file here is that one, and stderr says why */
};

/* Takes the modules of a running process. @return NULL after a complaint */
struct symbols *symbols_of_process(pid_t pid, enum tool_exit *exit_status);

/* Takes the modules from a copy of its /proc/PID/maps. @return NULL after a complaint */
struct symbols *symbols_of_maps(const char *path, enum tool_exit *exit_status);

/*
 * Takes modules from a list, each from its path if the file there has its build-id, else from where
 * this machine keeps files by build-id.
 *
 * @param modules  borrowed; their `refused` is written by symbols_find()
 * @return NULL after a complaint
 */
struct symbols *symbols_of_modules(struct symbols_module *modules, size_t count,
                                   enum tool_exit *exit_status);

void symbols_free(struct symbols *symbols);

/*
 * Says which functions are at an address, from the innermost inlined one to the one that contains
 * them all; that one always comes, whatever is known of it.
 *
 * @param visit  its argument, and the strings in it, are good for the call only
 */
void symbols_find(struct symbols *symbols, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user);

#endif
