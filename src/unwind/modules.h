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

#include <stdbool.h>

#include "unwind/image.h"

/*
 * @return the cached module of this identity, NULL if there is none or memory no longer says what
 *         the entry was made from
 *
 * Threads, signals: safe, wait-free.
 */
const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity);

/* Of an id: its module is there until the process ends. */
enum { SFB_MODULE_STAYS = 512 };

/*
 * Whether what was learnt under an id of this cache comes from .eh_frame (1) or .sframe (0). By id,
 * because the word that has the id has no bit left.
 */
extern uint8_t sfb_module_eh_frame[];

/* @return whether the module that has this id is the one of this identity, and memory says so */
bool sfb_module_cache_holds(uint32_t id, const struct sfb_module_identity *identity);

/*
 * Goes over the places where modules of the cache were loaded; they may be gone by now.
 *
 * @return the lowest above `after`, 0 if there is none
 */
uint64_t sfb_module_cache_next(uint64_t after);

/* @return whether the module that has this id, where it was loaded, held a pc */
bool sfb_module_cache_held(uint32_t id, uint64_t pc);

/*
 * @param pc  that the calling thread's stack has: whatever module it is in is not unloaded
 *            meanwhile. Of any other module not a byte may be read: another thread may be in
 *            dlclose().
 *
 * @return whether the module that holds pc is the one that has this id
 *
 * Threads, signals: safe, wait-free.   Cost: 10 to 20 ns.
 */
bool sfb_module_in_place(uint32_t id, uint64_t pc);

/*
 * Makes an entry, by the rules of a signal handler: lock-free, from a fixed pool.
 *
 * @param stays  it cannot be unloaded
 *
 * @return the entry, NULL if the pool is used up, or nothing in memory could tell that the entry is
 *         not true any more: the module then is read anew each time
 */
const struct sfb_module *sfb_module_cache_add(const struct sfb_image *image, bool stays);

/*
 * The same in two steps, for who has little stack: what is made is made where it will stay.
 *
 * @return (take) to be described, and then put or given back; NULL if the pool is used up
 */
struct sfb_image *sfb_module_cache_take(void);
const struct sfb_module *sfb_module_cache_put(struct sfb_image *image, bool stays);
void sfb_module_cache_give_back(struct sfb_image *image);

/*
 * Asks the tables of a module, .sframe first, for a pc.
 *
 * @param start  where the pc's function begins
 * @return SFB_OK; else what .eh_frame said: SFB_NO_CFI, SFB_NO_EH_FRAME if it has nothing at all
 */
enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start);

/*
 * What the modules of this process say of one that the cache has not, unless they are given room to
 * describe it in: it is to be learnt first.
 */
extern const struct sfb_module sfb_module_needs_room;

/*
 * Puts the module that holds a pc into the cache.
 *
 * @return the entry; NULL: there is no such module, no room left, or nothing to check an entry by
 *
 * Threads, signals: safe, lock-free.   Cost: two probes, about 300 ns.
 */
const struct sfb_module *sfb_modules_learn(uint64_t pc);

/* The modules of this process. */
const struct sfb_modules *sfb_modules_live(void);

#endif
