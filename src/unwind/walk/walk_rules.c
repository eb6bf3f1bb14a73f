/*
 * All walks share the slots, 1 KiB. Slots of a walk's own would be on its stack, and signal handlers
 * have little stack.
 *
 * Invariants:
 * - `walk` names the walk that wrote the rule in `word`. A writer sets it to 0 first and to its own
 *   name last. A reader reads it before and after the word.
 * - Two writers may still leave the name of one with the word of the other. The word has its whole
 *   key. So a reader finds a rule that another walk has read for the same pc at the same time, while
 *   both have that pc on their stacks: the same rule.
 * - A name is never reused, so no slot has to be cleared.
 */
#include "unwind/walk/walk_rules.h"

#include <stdatomic.h>

#include "unwind/machine/arch.h"

enum { SLOTS = 64 };

static struct {
    _Atomic uint64_t walk;
    _Atomic uint64_t word; /* the rule, packed by sfb_arch_pack(), above the key */
} slots[SLOTS];

#define KEY_MASK (((uint64_t)1 << SFB_ARCH_PC_BITS) - 1)

static unsigned slot_of(uint64_t key)
{
    return (unsigned)((key >> SFB_ARCH_PC_SHIFT) * 0x9e3779b97f4a7c15u >> 58);
}

bool sfb_walk_rules_get(uint64_t walk, uint64_t key, struct sfb_rule *out)
{
    unsigned i = slot_of(key);
    uint64_t word;

    if (key & ~KEY_MASK || atomic_load_explicit(&slots[i].walk, memory_order_acquire) != walk)
        return false;
    word = atomic_load_explicit(&slots[i].word, memory_order_acquire);
    if (atomic_load_explicit(&slots[i].walk, memory_order_relaxed) != walk ||
        (word & KEY_MASK) != key)
        return false;
    sfb_arch_unpack(out, word >> SFB_ARCH_PC_BITS);
    return true;
}

void sfb_walk_rules_put(uint64_t walk, uint64_t key, const struct sfb_rule *rule)
{
    unsigned i = slot_of(key);
    uint64_t packed;

    if (key & ~KEY_MASK || (rule->flags & (SFB_RULE_ANY_REGISTER | SFB_RULE_SIGNAL)) ||
        !sfb_arch_pack(rule, &packed))
        return;
    atomic_store_explicit(&slots[i].walk, 0, memory_order_relaxed);
    atomic_store_explicit(&slots[i].word, packed << SFB_ARCH_PC_BITS | key, memory_order_release);
    atomic_store_explicit(&slots[i].walk, walk, memory_order_release);
}
