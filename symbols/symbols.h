/*
 * Names for addresses of processes, from the symbol tables and the debug information of their
 * modules, and from what their JIT compilers write.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/loaded_modules.h"
#include "symbols/module_files.h"
#include "util/reporter.h"

struct symbols; /* opaque */

/* One function at an address: itself, or one that was inlined into the next. */
struct symbols_function {
    const char *name;   /* NULL: not known */
    uint64_t start;     /* of a function that is not inlined, in the process; 0: not known */
    const char *file;   /* base name; NULL: not known */
    const char *path;   /* of the file, with its directory; NULL: not known */
    int line, column;   /* 0: not known */
    const char *module; /* base name; NULL: no module is at the address */
    bool inlined;
};

/*
 * @param places    borrowed: where files are looked for beside their own places
 * @param reporter  copied: what is wrong with files, when they are first asked for
 * @return NULL: no memory
 */
struct symbols *symbols_open(const struct object_places *places, const struct reporter *reporter);

void symbols_close(struct symbols *symbols);

/* Takes the modules of a running process. @return false after a report */
bool symbols_add_process(struct symbols *symbols, pid_t pid, const struct reporter *reporter);

/* Takes the modules from a copy of its /proc/PID/maps, or from its image map. @return false after a report */
bool symbols_add_maps(struct symbols *symbols, const char *path, const struct reporter *reporter);

/* Whether a file of a module of the process was asked for and is not here; a report said which. */
bool symbols_refused(const struct symbols *symbols);

/* Whether one of the two was called. */
bool symbols_have_process(const struct symbols *symbols);

/*
 * From now on addresses are of a crash report or a core, which has its modules with it.
 *
 * @param modules  borrowed; their `refused` is written by symbols_find()
 * @return false: no memory
 */
bool symbols_use_modules(struct symbols *symbols, struct loaded_module *modules, size_t count);

/* From now on they are of the process. @return false: no memory */
bool symbols_use_process(struct symbols *symbols);

/*
 * Says which functions are at an address, from the innermost inlined one to the one that contains
 * them all; that one always comes, whatever is known of it.
 *
 * @param visit  its argument, and the strings in it, are good for the call only
 */
void symbols_find(struct symbols *symbols, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user);

/* The files of any module, looked for once. @return NULL: no memory */
struct module_file *symbols_module_file(struct symbols *symbols,
                                        const struct object_module *module);

/*
 * Calls for each module of the process or of the report, after its files were looked for.
 *
 * @param is_wanted  whether they shall be looked for at all
 * @return how many there were
 */
size_t symbols_each_module(struct symbols *symbols,
                           bool (*is_wanted)(void *user, const struct object_module *module),
                           void (*visit)(void *user, struct module_file *file), void *user);

#endif
