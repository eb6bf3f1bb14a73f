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
 * @param doubt  ask the kernel also of a module that stays
 *
 * @return the cached module of this identity, whose tables could be read just now; NULL if there is
 *         none, memory no longer says what the entry was made from, or the file has become shorter
 *
 * Threads, signals: safe, wait-free.   Cost: a system call, but for modules that stay.
 */
const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity,
                                               bool doubt);

/* Of an id: its module is there until the process ends. */
enum { SFB_MODULE_STAYS = 512 };

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
bool sfb_module_cache_holds(uint32_t id, const struct sfb_module_identity *identity, bool doubt);

/* @return whether the module that has this id, where it was loaded, held a pc */
bool sfb_module_cache_held(uint32_t id, uint64_t pc);

/*
 * @param pc     that the calling thread's stack has: a true return address keeps its module from
 *               being unloaded meanwhile. A stale one does not: see docs/LIMITS.md.
 * @param doubt  ask the kernel whether the module's first page can be read
 *
 * @return whether the module that holds pc is the one that has this id
 *
 * Threads, signals: safe, wait-free.   Cost: 10 to 20 ns, with doubt 100 more.
 */
bool sfb_module_in_place(uint32_t id, uint64_t pc, bool doubt);

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
 * Threads, signals: safe, lock-free.   Cost: about ten system calls, 1.2 us.
 */
const struct sfb_module *sfb_modules_learn(uint64_t pc);

/*
 * The modules of this process.
 *
 * @param doubt  ask the kernel of each one whether its tables can be read, also of those that stay
 */
const struct sfb_modules *sfb_modules_live(bool doubt);

static inline bool sfb_modules_are_live(const struct sfb_modules *modules)
{
    return modules == sfb_modules_live(false) || modules == sfb_modules_live(true);
}

/* @return whether address is in code of a module that stays, and which range of it then can be read */
bool sfb_module_code(const struct sfb_module *module, uint64_t address, uint64_t *lo, uint64_t *hi);

#endif
