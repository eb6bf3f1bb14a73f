/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Rules by pc: what a table said once it will say again.
 *
 * One cache serves any number of walks, threads and signal handlers at once, without a lock, for all
 * modules of one address space. Nothing has to be thrown away when a module is unloaded: what was
 * learnt is kept under the module's id, which is never given twice.
 */
#ifndef SFB_RULE_CACHE_H
#define SFB_RULE_CACHE_H

#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

enum { SFB_RULE_CACHE_WORDS = 8192 };

/* 64 KiB; all zeros: empty. See struct sfb_modules in <sfb/walk.h>. */
struct sfb_rule_cache {
    uint64_t word[SFB_RULE_CACHE_WORDS] __attribute__((aligned(64)));
};

SFB_END_DECLS

#endif
