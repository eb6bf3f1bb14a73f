/*
 * The cache of modules.
 *
 * A module's description depends only on bytes in the module itself: its program headers and the
 * header of its section. A cache entry keeps a copy of these bytes, and is valid while memory still
 * has the same bytes. So a stale entry never answers for an unloaded or replaced module, and
 * dlclose() needs no notification.
 */
#ifndef SFB_UNWIND_PROCESS_MODULE_CACHE_H
#define SFB_UNWIND_PROCESS_MODULE_CACHE_H

#include <stdbool.h>

#include "sfb/rule_cache.h"
#include "unwind/process/image.h"

/*
 * @param doubt  revalidate permanent modules too, with the kernel
 *
 * @return the cached module of this identity; its tables were readable just now. NULL: not cached,
 *         memory differs from the entry's copy, or the file has become shorter
 *
 * Threads, signals: safe, wait-free.   Cost: a system call, but for permanent modules.
 */
const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity,
                                               bool doubt);

/* Bit of an id: its module stays mapped until the process ends. */
enum { SFB_MODULE_PERMANENT = 512 };

/*
 * By id: the module's rules come from .eh_frame (1) or .sframe (0). Here, because the rule cache's
 * word has no bit left.
 */
extern uint8_t sfb_module_eh_frame[];

/*
 * @param doubt  ask the kernel whether the page with the build-id is readable
 *
 * @return whether the module with this id has this identity, and memory confirms it
 */
bool sfb_module_id_matches(uint32_t id, const struct sfb_module_identity *identity, bool doubt);

/* Gives the place of the module with this id, which may be unloaded. */
void sfb_module_id_place(uint32_t id, uint64_t *start, uint64_t *size);

/*
 * Makes an entry. Safe in signal handlers: lock-free, from a fixed pool.
 *
 * @param permanent  it cannot be unloaded
 *
 * @return the entry; NULL: the pool is used up, or no bytes in memory could show that the entry is
 *         stale. Then the module is read anew each time.
 */
const struct sfb_module *sfb_module_cache_add(const struct sfb_loaded_image *image, bool permanent);

/*
 * The same in two steps, to save stack: the caller fills in the entry in place.
 *
 * @return (take) the entry's image, to be filled in and then put or given back; NULL: the pool is used up
 */
struct sfb_loaded_image *sfb_module_cache_take(void);
const struct sfb_module *sfb_module_cache_put(struct sfb_loaded_image *image, bool permanent);
void sfb_module_cache_give_back(struct sfb_loaded_image *image);

/* @return whether address is in code of a permanent module. lo, hi: written then, the readable range around it */
bool sfb_module_code(const struct sfb_module *module, uint64_t address, uint64_t *lo, uint64_t *hi);

/*
 * Lists the module cache without asking the loader. A module may be unloaded or replaced by now. Any
 * order; a place may come twice.
 *
 * @param i    below SFB_LOADED_REMEMBERED
 * @param out  written on true
 *
 * Threads, signals: safe.   Cost: constant.
 */
enum { SFB_LOADED_REMEMBERED = 1024 };

bool sfb_loaded_remembered(struct sfb_loaded *out, unsigned i);

/* Rules, kept under ids of this cache. */
extern struct sfb_rule_cache sfb_live_rules __attribute__((visibility("hidden")));

#endif
