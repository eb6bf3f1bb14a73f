/*
 * The rule cache: 64 KiB, untouched where nothing is walked.
 *
 * Invariants:
 * - An entry is one word, loaded and stored at once: there is no torn state, so any thread and any
 *   nested signal may read and write at any time, and the worst is to lose an entry, or to have it
 *   twice.
 * - The word names its pc exactly, and its module by an id that stands for the very bytes of a file
 *   at one address (modules.c) and is never given twice. Who has made sure that the module of this
 *   id is there now may believe the word: it says what the table would say. Nothing has to be
 *   thrown away when a library is unloaded or replaced.
 * - Only what a table said goes in, never what it refused to say.
 *
 * Low bits of the pc index it: call sites are spread well enough, and a hash costs a multiplication
 * in the chain from one frame to the next. A pc whose place is taken goes elsewhere in the same
 * line of the processor's cache, which costs no second miss. Where all of the line is taken, it gets its
 * place, and the word that was there one of the others: two pcs of one place, both of them on every
 * stack, would drive each other out for ever, among words that nobody asks for any more.
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

/* Its home if that is free or has this key already, else another such place in the line. */
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

/* Where a word goes that has to leave its place. */
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
     * Release: who finds the word asks for what is known of its id, in another thread, too: see
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
