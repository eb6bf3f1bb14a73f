/*
 * The cache of modules.
 *
 * A module is a pure function of bytes that lie in the module itself: its program headers and the
 * header of its section. A cache entry keeps a copy of those bytes and is good for as long as
 * memory still says the same, so an unloaded or replaced module can never be answered for by a
 * stale entry, and nobody has to be told of dlclose().
 */
#ifndef SFB_UNWIND_PROCESS_MODULE_CACHE_H
#define SFB_UNWIND_PROCESS_MODULE_CACHE_H

#include <stdbool.h>

#include "sfb/rule_cache.h"
#include "unwind/process/image.h"

/*
 * @param doubt  ask the kernel also of a permanent module
 *
 * @return the cached module of this identity, whose tables could be read just now; NULL if there is
 *         none, memory no longer says what the entry was made from, or the file has become shorter
 *
 * Threads, signals: safe, wait-free.   Cost: a system call, but for permanent modules.
 */
const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity,
                                               bool doubt);

/* Of an id: its module is there until the process ends. */
enum { SFB_MODULE_PERMANENT = 512 };

/*
 * Whether what was learnt under an id of this cache comes from .eh_frame (1) or .sframe (0). By id,
 * because the word that has the id has no bit left.
 */
extern uint8_t sfb_module_eh_frame[];

/*
 * @param doubt  ask the kernel whether the page with the build-id can be read
 *
 * @return whether the module that has this id is the one of this identity, and memory says so
 */
bool sfb_module_id_matches(uint32_t id, const struct sfb_module_identity *identity, bool doubt);

/* Says where the module that has this id is, or was. */
void sfb_module_id_place(uint32_t id, uint64_t *start, uint64_t *size);

/*
 * Makes an entry, by the rules of a signal handler: lock-free, from a fixed pool.
 *
 * @param permanent  it cannot be unloaded
 *
 * @return the entry, NULL if the pool is used up, or nothing in memory could tell that the entry is
 *         not true any more: the module then is read anew each time
 */
const struct sfb_module *sfb_module_cache_add(const struct sfb_loaded_image *image, bool permanent);

/*
 * The same in two steps, to save stack: the entry is described in place.
 *
 * @return (take) to be described, and then put or given back; NULL if the pool is used up
 */
struct sfb_loaded_image *sfb_module_cache_take(void);
const struct sfb_module *sfb_module_cache_put(struct sfb_loaded_image *image, bool permanent);
void sfb_module_cache_give_back(struct sfb_loaded_image *image);

/* @return whether address is in code of a permanent module, and which range of it then can be read */
bool sfb_module_code(const struct sfb_module *module, uint64_t address, uint64_t *lo, uint64_t *hi);

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

/* Rules that were learnt under ids of this cache. */
extern struct sfb_rule_cache sfb_live_rules __attribute__((visibility("hidden")));

#endif
