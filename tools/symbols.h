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

#include "report_modules.h"
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

/* Takes the modules of a running process. @return NULL after a complaint */
struct symbols *symbols_of_process(pid_t pid, enum tool_exit *exit_status);

/* Takes the modules from a copy of its /proc/PID/maps. @return NULL after a complaint */
struct symbols *symbols_of_maps(const char *path, enum tool_exit *exit_status);

/*
 * For crash reports, which have their modules with them. What was read of a file is kept for the
 * next report.
 *
 * @return NULL: no memory
 */
struct symbols *symbols_of_reports(void);

/*
 * Takes the modules of the next report: report_files.h says where their files are looked for.
 *
 * @param modules  borrowed until the next call; their `refused` is written by symbols_find()
 * @return false: no memory
 */
bool symbols_use_modules(struct symbols *symbols, struct report_module *modules, size_t count);

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
