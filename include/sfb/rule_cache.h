/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Rule cache: keeps the rule that a table stated for a pc.
 *
 * One cache serves all modules of an address space, and any number of walks, threads and signal
 * handlers at once, without a lock. An unloaded module needs no eviction: rules are kept under the
 * module's id, and an id is never reused.
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
