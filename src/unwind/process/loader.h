/*
 * The modules of this process, as the dynamic loader has them now. Only loader.c calls
 * _dl_find_object(). loader_state.h tells whether it must be called again.
 */
#ifndef SFB_UNWIND_PROCESS_LOADER_H
#define SFB_UNWIND_PROCESS_LOADER_H

#include <stdbool.h>

#include "unwind/process/image.h"

/*
 * The modules of this process, as a policy for walks.
 *
 * @param doubt  ask the kernel whether each module's tables are readable, also a permanent module's
 */
const struct sfb_modules *sfb_modules_live(bool doubt);

/*
 * @param pc     on the calling thread's stack: a live return address keeps its module from being
 *               unloaded meanwhile. A stale one does not: docs/LIMITS.md.
 * @param doubt  ask the kernel whether the module's first page is readable
 *
 * @return whether the module that contains pc has this id
 *
 * Threads, signals: safe, wait-free.   Cost: 10 to 20 ns, with doubt 100 more.
 */
bool sfb_module_is_loaded(uint32_t id, uint64_t pc, bool doubt);

/*
 * Finds the module that is mapped at pc now, without the cache.
 *
 * @param out  written on true
 * @return whether a module contains pc
 *
 * Threads, signals: safe.
 */
bool sfb_loaded_find(struct sfb_loaded *out, uint64_t pc);

/*
 * @return an address in the i-th module of a static program (itself, the vDSO); 0: no such module
 *
 * Threads, signals: safe.
 */
uint64_t sfb_loader_static(unsigned i);

/*
 * Finds the modules that the program was started with. The library's constructor calls it. Code that may run in earlier
 * constructors must call it first.
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
