/*
 * The modules of this process, as the dynamic loader has them now. loader.c alone knows
 * _dl_find_object().
 */
#ifndef SFB_UNWIND_PROCESS_LOADER_H
#define SFB_UNWIND_PROCESS_LOADER_H

#include <stdbool.h>

#include "unwind/process/image.h"

/*
 * The modules of this process, as a policy for walks.
 *
 * @param doubt  ask the kernel of each one whether its tables can be read, also of permanent ones
 */
const struct sfb_modules *sfb_modules_live(bool doubt);

/*
 * @param pc     that the calling thread's stack has: a true return address keeps its module from
 *               being unloaded meanwhile. A stale one does not: see docs/LIMITS.md.
 * @param doubt  ask the kernel whether the module's first page can be read
 *
 * @return whether the module that holds pc is the one that has this id
 *
 * Threads, signals: safe, wait-free.   Cost: 10 to 20 ns, with doubt 100 more.
 */
bool sfb_module_is_loaded(uint32_t id, uint64_t pc, bool doubt);

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
 * @return where the loader's struct r_debug is, which leads to its lists; 0: in a static program
 *
 * Threads, signals: safe.
 */
uint64_t sfb_loader_debug(void);

/*
 * @return an address in the i-th module of a static program: itself, the vDSO; 0: there are no more
 *
 * Threads, signals: safe.
 */
uint64_t sfb_loader_static(unsigned i);

/*
 * Learns which modules the program was started with. The library's constructor calls it; code that may run in earlier
 * constructors calls it first.
 *
 * Signals: NOT safe: it takes the loader's lock.
 */
void sfb_loader_begin(void);

/*
 * Puts all modules that are loaded now into the cache.
 *
 * Signals: NOT safe: it takes the loader's lock.
 */
void sfb_loader_refresh(void);

#endif
