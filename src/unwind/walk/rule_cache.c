/*
 * The rule cache: 64 KiB, not touched before the first walk.
 *
 * Invariants:
 * - An entry is one word, loaded and stored at once, so it is never torn. Any thread and any nested
 *   signal may read and write at any time. At worst an entry is lost, or stored twice.
 * - The word has its exact pc, and its module's id. An id stands for the bytes of a file at one address
 *   (module_cache.c), and is never reused. A hit is valid if the module with this id is still mapped;
 *   callers check that first. Then the word is the rule that the table would state. An unloaded or
 *   replaced library needs no eviction.
 * - Only rules that a table stated are cached, never misses.
 *
 * The index is the low bits of the pc: call sites are spread well enough, and a hash would cost a
 * multiplication in the chain from frame to frame. If the home slot is taken, the word goes to another
 * slot of the same cache line, without a second miss. If the whole line is taken, the new word gets its
 * home slot, and the word there moves to another slot of the line. Else two pcs with one home slot, both
 * on every stack, would evict each other for ever, beside words that are no longer used.
 */
#include "unwind/walk/rule_cache.h"

static uint64_t load_word(const struct sfb_rule_cache *cache, unsigned at)
{
    return __atomic_load_n(&cache->word[at], SFB_RULE_CACHE_LOAD);
}

uint64_t sfb_rule_cache_look_further(const struct sfb_rule_cache *cache, uint64_t key)
{
    unsigned home = sfb_rule_cache_home(key);

    for (unsigned i = 1; i < SFB_RULE_CACHE_WAYS; i++) {
        uint64_t word = load_word(cache, home ^ i);

        if (sfb_rule_cache_matches(word, key))
            return word;
    }
    return 0;
}

bool sfb_rule_cache_get(const struct sfb_rule_cache *cache, uint64_t key, uint32_t id,
                        struct sfb_rule *out)
{
    uint64_t word;

    if (id == 0 || key >> SFB_ARCH_PC_BITS)
        return false;
    word = sfb_rule_cache_look(cache, key);
    if (sfb_rule_cache_id(word) != id)
        return false;
    if (word >> SFB_ARCH_PC_BITS == 0)
        *out = (struct sfb_rule){ .flags = SFB_RULE_OUTERMOST };
    else
        sfb_arch_unpack(out, word >> SFB_ARCH_PC_BITS);
    return true;
}

/* @return the home slot if it is free or has this key, else another such slot of the line */
static unsigned place_for(const struct sfb_rule_cache *cache, uint64_t key)
{
    unsigned home = sfb_rule_cache_home(key), place = home;

    for (unsigned i = 0; i < SFB_RULE_CACHE_WAYS; i++) {
        uint64_t word = load_word(cache, home ^ i);

        if (sfb_rule_cache_matches(word, key))
            return home ^ i;
        if (word == 0 && load_word(cache, place) != 0)
            place = home ^ i;
    }
    return place;
}

/* @return the slot to which a word moves when it is displaced */
static unsigned second_place(unsigned place, uint64_t word)
{
    uint64_t mixed = (word & SFB_RULE_CACHE_TAG) * 0x9e3779b97f4a7c15u;

    return place ^ (1 + (unsigned)(mixed >> 32) % (SFB_RULE_CACHE_WAYS - 1));
}

/* Release: see below. */
static void store_word(struct sfb_rule_cache *cache, unsigned at, uint64_t word)
{
    __atomic_store_n(&cache->word[at], word, __ATOMIC_RELEASE);
}

void sfb_rule_cache_put(struct sfb_rule_cache *cache, uint64_t key, uint32_t id,
                        const struct sfb_rule *rule)
{
    uint64_t packed = 0, before;
    unsigned place;

    if (id == 0 || id > SFB_RULE_CACHE_ID_MAX || key >> SFB_ARCH_PC_BITS)
        return;
    if (!(rule->flags & SFB_RULE_OUTERMOST) &&
        ((rule->flags & (SFB_RULE_ANY_REGISTER | SFB_RULE_SIGNAL)) ||
         !sfb_arch_pack(rule, &packed)))
        return;
    /*
     * Release: a reader of the word, perhaps another thread, then reads the facts about its id. See
     * SFB_RULE_CACHE_LOAD.
     */
    place = place_for(cache, key);
    before = load_word(cache, place);
    if (before != 0 && !sfb_rule_cache_matches(before, key))
        store_word(cache, second_place(place, before), before);
    store_word(cache, place,
               packed << SFB_ARCH_PC_BITS | (uint64_t)id << SFB_RULE_CACHE_ID_SHIFT |
                   (key & SFB_RULE_CACHE_TAG));
}
