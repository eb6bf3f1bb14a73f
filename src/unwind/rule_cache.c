/*
 * The rule cache: direct-mapped, 64 KiB, untouched where nothing is walked.
 *
 * Invariants:
 * - An entry is one word, loaded and stored at once: there is no torn state, so any thread and any
 *   nested signal may read and write at any time, and the worst is to lose an entry.
 * - The word names its module by an id that stands for the very bytes of a file (modules.c) and is
 *   never given twice, and its pc exactly. A hit therefore says what the section would say: nothing
 *   has to be thrown away when a library is unloaded or replaced.
 * - Only what a section said goes in, never what it refused to say.
 *
 * Low bits of the pc index it: call sites are spread well enough, and a hash costs a multiplication
 * in the chain from one frame to the next.
 */
#include "unwind/rule_cache.h"

_Atomic uint64_t sfb_rule_cache[SFB_RULE_CACHE_SLOTS] __attribute__((aligned(64)));

static bool pack(const struct sfb_rule *rule, uint64_t *out)
{
    int32_t cfa = rule->cfa_offset;
    uint64_t slot;

    if ((rule->flags & (SFB_RULE_OUTERMOST | SFB_RULE_GENERAL | SFB_RULE_SIGNAL)) || cfa < 0 ||
        cfa % 8 || cfa / 8 > SFB_PACKED_CFA_MAX || !sfb_arch_pack(rule, &slot))
        return false;
    *out = (uint64_t)(rule->cfa_base == SFB_BASE_FP) |
           (uint64_t)(rule->fp_where == SFB_WHERE_CFA) << 1 |
           (uint64_t)(cfa / 8) << SFB_PACKED_CFA_SHIFT | slot << SFB_PACKED_SLOT_SHIFT;
    return true;
}

void sfb_rule_cache_put(uint64_t place, uint32_t id, const struct sfb_rule *rule)
{
    uint64_t word;

    if (id == 0 || id > SFB_RULE_CACHE_ID_MAX || place >> 32 || !pack(rule, &word))
        return;
    atomic_store_explicit(sfb_rule_cache_slot(place), sfb_rule_cache_key(place, id) | word,
                          memory_order_relaxed);
}
