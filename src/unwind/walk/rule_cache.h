/*
 * Rule cache: keeps the rule that a table stated for a pc.
 *
 * See rule_cache.c for the invariants. Without it, a walk gives the same frames, only slower; tests
 * compare the two.
 */
#ifndef SFB_UNWIND_WALK_RULE_CACHE_H
#define SFB_UNWIND_WALK_RULE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/rule.h"
#include "sfb/rule_cache.h"
#include "unwind/machine/arch.h"

enum {
    SFB_RULE_CACHE_WAYS = 8, /* words in a cache line */
    SFB_RULE_CACHE_ID_BITS = 10,
    SFB_RULE_CACHE_ID_MAX = (1 << SFB_RULE_CACHE_ID_BITS) - 1,
    SFB_RULE_CACHE_ID_SHIFT = SFB_ARCH_PC_SHIFT + 3
};

_Static_assert(SFB_RULE_CACHE_WORDS / SFB_RULE_CACHE_WAYS == 1 << SFB_RULE_CACHE_ID_BITS,
               "the id replaces the bits of a pc that choose a line");

/*
 * A word is the key, with the module's id in place of the bits that choose the line. Above the key's
 * bits is the rule, packed by sfb_arch_pack(); 0: the frame is outermost.
 *
 * The key is the return address of a call: the looked-up pc + 1. Nearly every frame is at a call, and
 * saves the subtraction.
 */
#define SFB_RULE_CACHE_TAG                                                                         \
    (((1ull << SFB_ARCH_PC_BITS) - 1) &                                                            \
     ~((uint64_t)SFB_RULE_CACHE_ID_MAX << SFB_RULE_CACHE_ID_SHIFT))

static inline uint32_t sfb_rule_cache_id(uint64_t word)
{
    return (uint32_t)(word >> SFB_RULE_CACHE_ID_SHIFT) & SFB_RULE_CACHE_ID_MAX;
}

/* Home slot of a word, probed first. The word may be in any slot of the same line. */
static inline unsigned sfb_rule_cache_home(uint64_t key)
{
    return (unsigned)(key >> SFB_ARCH_PC_SHIFT) % SFB_RULE_CACHE_WORDS;
}

/* Tells whether a word is for a key, whatever its module. The key is a pc in user space. */
static inline bool sfb_rule_cache_matches(uint64_t word, uint64_t key)
{
    return ((word ^ key) & SFB_RULE_CACHE_TAG) == 0;
}

/*
 * A word is stored with release. It is loaded without acquire: the next load's address depends on the id in the word, and
 * no processor reorders dependent loads. The thread sanitizer does not know this order.
 */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define SFB_RULE_CACHE_LOAD __ATOMIC_ACQUIRE
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SFB_RULE_CACHE_LOAD __ATOMIC_ACQUIRE
#endif
#ifndef SFB_RULE_CACHE_LOAD
#define SFB_RULE_CACHE_LOAD __ATOMIC_RELAXED
#endif

/* sfb_rule_cache_look() if the home slot has another word. */
uint64_t sfb_rule_cache_look_further(const struct sfb_rule_cache *cache, uint64_t key);

/* @return the word that matches a key below 1 << SFB_ARCH_PC_BITS; a word with id 0: not cached */
static inline uint64_t sfb_rule_cache_look(const struct sfb_rule_cache *cache, uint64_t key)
{
    uint64_t word = __atomic_load_n(&cache->word[sfb_rule_cache_home(key)], SFB_RULE_CACHE_LOAD);

    if (__builtin_expect(!sfb_rule_cache_matches(word, key), 0))
        return sfb_rule_cache_look_further(cache, key);
    return word;
}

/*
 * @param id  of the module that contains the pc now; 0: never a hit
 * @param out written if a rule is found
 */
bool sfb_rule_cache_get(const struct sfb_rule_cache *cache, uint64_t key, uint32_t id,
                        struct sfb_rule *out);

/* Caches a rule, unless it does not fit the word, as few do. id 0: does nothing. */
void sfb_rule_cache_put(struct sfb_rule_cache *cache, uint64_t key, uint32_t id,
                        const struct sfb_rule *rule);

#endif
