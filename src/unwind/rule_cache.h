/*
 * Rules by pc, for the whole process: what a section said once it will say again.
 *
 * See rule_cache.c for the invariants. The walk is the same without it, and slower; tests compare
 * the two.
 */
#ifndef SFB_UNWIND_RULE_CACHE_H
#define SFB_UNWIND_RULE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sfb/rule.h"
#include "unwind/arch.h"

#define SFB_RULE_CACHE_SLOTS  8192
#define SFB_RULE_CACHE_ID_MAX 1023

extern _Atomic uint64_t sfb_rule_cache[SFB_RULE_CACHE_SLOTS];

/*
 * A rule and whose it is, in one word, from the lowest bit on:
 *
 *      1  CFA counts from fp (else sp)
 *      1  fp is stored
 *     14  CFA offset / 8
 *      6  where RA and fp are: sfb_arch_pack()
 *     10  id of the module, never 0
 *     32  pc, from the start of the module
 *
 * Whether a return address is signed is not kept: a step does not ask.
 */
enum {
    SFB_PACKED_CFA_SHIFT = 2,
    SFB_PACKED_CFA_MAX = (1 << 14) - 1,
    SFB_PACKED_SLOT_SHIFT = 16,
    SFB_PACKED_ID_SHIFT = SFB_PACKED_SLOT_SHIFT + SFB_ARCH_SLOT_BITS,
    SFB_PACKED_PC_SHIFT = 32
};

static inline uint64_t sfb_rule_cache_key(uint64_t place, uint32_t id)
{
    return place << SFB_PACKED_PC_SHIFT | (uint64_t)id << SFB_PACKED_ID_SHIFT;
}

static inline _Atomic uint64_t *sfb_rule_cache_slot(uint64_t place)
{
    return &sfb_rule_cache[(place >> SFB_ARCH_PC_SHIFT) % SFB_RULE_CACHE_SLOTS];
}

/*
 * @param place  pc, from the start of its module
 * @param id     of the module; 0: nothing is ever found
 */
static inline bool sfb_rule_cache_get(uint64_t place, uint32_t id, struct sfb_rule *out)
{
    uint64_t word = atomic_load_explicit(sfb_rule_cache_slot(place), memory_order_relaxed);

    if (id == 0 || id > SFB_RULE_CACHE_ID_MAX || place >> 32 ||
        (word ^ sfb_rule_cache_key(place, id)) >> SFB_PACKED_ID_SHIFT)
        return false;
    *out = (struct sfb_rule){
        .cfa_base = word & 1 ? SFB_BASE_FP : SFB_BASE_SP,
        .fp_where = word & 2 ? SFB_WHERE_CFA : SFB_WHERE_SAME,
        .cfa_offset = (int32_t)(word >> SFB_PACKED_CFA_SHIFT & SFB_PACKED_CFA_MAX) * 8,
    };
    sfb_arch_unpack(out, word >> SFB_PACKED_SLOT_SHIFT & SFB_ARCH_SLOT_MAX);
    return true;
}

/* Remembers a rule, unless it is one of the few that do not fit the word. */
void sfb_rule_cache_put(uint64_t place, uint32_t id, const struct sfb_rule *rule);

#endif
