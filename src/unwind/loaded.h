/* What is loaded at an address: for those who report it. The walk asks sfb_modules_live(). */
#ifndef SFB_UNWIND_LOADED_H
#define SFB_UNWIND_LOADED_H

#include <stdbool.h>

#include "unwind/image.h"

struct sfb_loaded {
    uint64_t start, end;
    uint64_t bias;     /* pc - bias: the address as the file has it */
    uint64_t link_map; /* the loader's struct link_map, not to be believed; 0: none */
    struct sfb_build_id build_id;
};

/*
 * Looks at what is there now, not at what is remembered.
 *
 * @param out  written if there is a module
 * @return whether a module is at pc
 *
 * Threads, signals: safe.
 */
bool sfb_loaded_find(struct sfb_loaded *out, uint64_t pc);

/*
 * What the module cache remembers, without asking the loader: it may be unloaded by now, or
 * replaced. Any order; one place may come twice.
 *
 * @param i    below SFB_LOADED_REMEMBERED
 * @param out  written if there is one
 *
 * Threads, signals: safe.   Cost: constant.
 */
enum { SFB_LOADED_REMEMBERED = 1024 };

bool sfb_loaded_remembered(struct sfb_loaded *out, unsigned i);

#endif
