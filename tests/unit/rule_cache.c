/* What goes into the rule cache comes out as it was, for its own module and pc, and nobody else's.
 */
#include "unwind/rule_cache.h"

#include <string.h>

#include "support/test.h"

/* Whether they say the same: what an offset is when nothing lies there says nothing. */
static bool same(struct sfb_rule a, struct sfb_rule b)
{
    if (a.ra_where == SFB_WHERE_SAME && b.ra_where == SFB_WHERE_SAME)
        a.ra_offset = b.ra_offset;
    if (a.fp_where == SFB_WHERE_SAME && b.fp_where == SFB_WHERE_SAME)
        a.fp_offset = b.fp_offset;
    return memcmp(&a, &b, sizeof a) == 0;
}

/*
 * A rule of this machine's compilers. The slot is what of it differs: on x86-64 words from fp up to
 * the CFA, on AArch64 words from the CFA's register up to RA, or the last one for RA in its
 * register.
 */
static struct sfb_rule rule(unsigned base, int32_t cfa, bool fp_stored, int32_t slot)
{
    struct sfb_rule r = { .cfa_base = (uint8_t)base,
                          .ra_where = SFB_WHERE_CFA,
                          .fp_where = fp_stored ? SFB_WHERE_CFA : SFB_WHERE_SAME,
                          .cfa_offset = cfa,
                          .ra_offset = SFB_ARCH_LR ? slot * 8 - cfa : -8 };

    r.fp_offset = !fp_stored ? 0 : SFB_ARCH_LR ? r.ra_offset - 8 : slot * -8;
    if (SFB_ARCH_LR && slot == SFB_ARCH_SLOT_MAX) {
        r.ra_where = SFB_WHERE_SAME;
        r.fp_where = SFB_WHERE_SAME;
    }
    return r;
}

Test(rule_cache, gives_back_exactly_what_was_put)
{
    static const int32_t cfas[] = { 0, 8, 16, 24, 4096, 131056, 131064 };
    static const int32_t slots[] = { 0, 1, 2, SFB_ARCH_SLOT_MAX - 1, SFB_ARCH_SLOT_MAX };
    /* Places that are so far apart share a slot. */
    enum { ROUND = SFB_RULE_CACHE_SLOTS << SFB_ARCH_PC_SHIFT };
    static const uint64_t places[] = { 0, 1, ROUND - 1, ROUND, 0x123456, 0xffffffff };
    static const uint32_t ids[] = { 1, 2, 512, SFB_RULE_CACHE_ID_MAX };
    struct sfb_rule out;

    for (unsigned c = 0; c < sizeof cfas / sizeof *cfas; c++)
        for (unsigned s = 0; s < sizeof slots / sizeof *slots; s++)
            for (unsigned p = 0; p < sizeof places / sizeof *places; p++)
                for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
                    for (unsigned kind = 0; kind < 4; kind++) {
                        struct sfb_rule r = rule(kind & 1, cfas[c], kind & 2, slots[s]);

                        sfb_rule_cache_put(places[p], ids[i], &r);
                        memset(&out, 0xee, sizeof out);
                        cr_assert(sfb_rule_cache_get(places[p], ids[i], &out));
                        cr_assert(same(out, r));
                        cr_assert(not(sfb_rule_cache_get(places[p], ids[i] ^ 3, &out)));
                        cr_assert(not(sfb_rule_cache_get(places[p] ^ ROUND, ids[i], &out)));
                        cr_assert(not(sfb_rule_cache_get(places[p] + (1ull << 32), ids[i], &out)));
                    }
}

Test(rule_cache, knows_nothing_at_first_and_nothing_of_modules_without_an_id)
{
    struct sfb_rule r = rule(SFB_BASE_SP, 16, false, 0), out;

    for (uint64_t place = 0; place < 20000; place++)
        for (uint32_t id = 0; id < 3; id++)
            cr_assert(not(sfb_rule_cache_get(place, id, &out)));
    sfb_rule_cache_put(100, 0, &r);
    cr_expect(not(sfb_rule_cache_get(100, 0, &out)));
}

Test(rule_cache, leaves_out_what_does_not_fit)
{
    static const int32_t cfas[] = { 131072, 12, -8 }, fps[] = { 8, -12, -512 };
    /* -8 is where x86-64 has it always; AArch64 within so many words above sp. */
    static const int32_t ras[] = { SFB_ARCH_LR ? -24 : -16, -12, SFB_ARCH_SLOT_MAX * 8 - 16 };
    const struct sfb_rule good = rule(SFB_BASE_SP, 16, true, SFB_ARCH_LR ? 1 : 2);
    struct sfb_rule cases[12], out;
    unsigned count = 0;

    for (unsigned i = 0; i < 3; i++) {
        cases[count++] = rule(SFB_BASE_SP, cfas[i], false, 0);
        cases[count] = good;
        cases[count++].fp_offset = fps[i];
        cases[count] = good;
        cases[count].ra_offset = ras[i];
        cases[count++].fp_offset = SFB_ARCH_LR ? ras[i] - 8 : good.fp_offset;
    }
    cases[count] = good;
    cases[count++].flags = SFB_RULE_OUTERMOST;
    cases[count] = good; /* fp stored, but not beside RA */
    cases[count++].ra_where = SFB_WHERE_SAME;
    if (!SFB_ARCH_LR) {
        cases[count] = rule(SFB_BASE_SP, 16, false, 0);
        cases[count++].ra_where = SFB_WHERE_SAME;
    }
    sfb_rule_cache_put(100, 1, &good);
    cr_expect(sfb_rule_cache_get(100, 1, &out), "the one that all are made of does fit");
    sfb_rule_cache_put(100, 2, &good); /* takes its place again, for another module */

    for (unsigned i = 0; i < count; i++) {
        sfb_rule_cache_put(100 + i, 1, &cases[i]);
        cr_expect(not(sfb_rule_cache_get(100 + i, 1, &out)), "case %u", i);
    }
}
