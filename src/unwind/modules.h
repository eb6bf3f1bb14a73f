/*
 * The cache of modules.
 *
 * A module is a pure function of bytes that lie in the module itself: its program headers and the
 * header of its section. A cache entry keeps a copy of those bytes and is good for as long as
 * memory still says the same, so an unloaded or replaced module can never be answered for by a
 * stale entry, and nobody has to be told of dlclose().
 */
#ifndef SFB_UNWIND_MODULES_H
#define SFB_UNWIND_MODULES_H

#include "unwind/image.h"

/*
 * @return the cached module of this identity, NULL if there is none or memory no longer says what
 *         the entry was made from
 *
 * Threads, signals: safe, wait-free.
 */
const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity);

/*
 * Makes an entry, by the rules of a signal handler: wait-free, from a fixed pool.
 *
 * @return the entry, NULL if the pool is used up: the module then is read anew each time
 */
const struct sfb_module *sfb_module_cache_add(const struct sfb_image *image);

/*
 * Asks the tables of a module, .sframe first, for a pc.
 *
 * @param start  where the pc's function begins
 * @return SFB_OK; else what .eh_frame said: SFB_NO_CFI, SFB_NO_EH_FRAME if it has nothing at all
 */
enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start);

/* The modules of this process. own: where a module that is not cached is described. */
void sfb_modules_live(struct sfb_modules *out, struct sfb_module *own);

#endif
