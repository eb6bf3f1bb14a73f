/*
 * Modules of another process, as a policy for a walk: what /proc/PID/maps names, with the tables of their
 * files. A file is opened when a pc is first in it: through the root of the process, by its build-id
 * where that is known, and from memory where the file is gone.
 */
#ifndef REMOTE_TARGET_MODULES_H
#define REMOTE_TARGET_MODULES_H

#include <stdbool.h>

#include "sfb/walk.h"
#include "symbols/process.h"

struct remote_module; /* a module, and its file */

struct remote_modules {
    struct sfb_modules policy;
    struct object_process process;
    struct remote_module *modules; /* as process.maps.modules */
    struct sfb_rule_cache *cache;
    uint16_t ids; /* given so far */
};

/*
 * Takes the modules that are mapped now.
 *
 * @param cause  why not
 * @return false: out needs no closing
 */
bool remote_modules_open(struct remote_modules *out, pid_t pid, const char **cause);

void remote_modules_close(struct remote_modules *modules);

#endif
