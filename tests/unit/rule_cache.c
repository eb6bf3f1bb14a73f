/* What goes into the rule cache comes out as it was, for its own module and pc, and nobody else's.
 */
#include "unwind/rule_cache.h"

#include <string.h>

#include "support/test.h"

static bool same(const struct sfb_rule *a, const struct sfb_rule *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static struct sfb_rule rule(unsigned base, int32_t cfa, bool fp_stored, int32_t fp)
{
    return (struct sfb_rule){ .cfa_base = (uint8_t)base,
                              .ra_where = SFB_WHERE_CFA,
                              .fp_where = fp_stored ? SFB_WHERE_CFA : SFB_WHERE_SAME,
                              .cfa_offset = cfa,
                              .ra_offset = -8,
                              .fp_offset = fp_stored ? fp : 0 };
}

Test(rule_cache, gives_back_exactly_what_was_put)
{
    static const int32_t cfas[] = { 0, 8, 16, 24, 4096, 131056, 131064 };
    static const int32_t fps[] = { 0, -8, -16, -496, -504 };
    static const uint64_t places[] = { 0, 1, 8191, 8192, 0x123456, 0xffffffff };
    static const uint32_t ids[] = { 1, 2, 512, SFB_RULE_CACHE_ID_MAX };
    struct sfb_rule out;

    for (unsigned c = 0; c < sizeof cfas / sizeof *cfas; c++)
        for (unsigned f = 0; f < sizeof fps / sizeof *fps; f++)
            for (unsigned p = 0; p < sizeof places / sizeof *places; p++)
                for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
                    for (unsigned kind = 0; kind < 4; kind++) {
                        struct sfb_rule r = rule(kind & 1, cfas[c], kind & 2, fps[f]);

                        sfb_rule_cache_put(places[p], ids[i], &r);
                        memset(&out, 0xee, sizeof out);
                        cr_assert(sfb_rule_cache_get(places[p], ids[i], &out));
                        cr_assert(same(&out, &r));
                        cr_assert(not(sfb_rule_cache_get(places[p], ids[i] ^ 3, &out)));
                        cr_assert(not(sfb_rule_cache_get(places[p] ^ 8192, ids[i], &out)));
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
    struct sfb_rule cases[] = {
        rule(SFB_BASE_SP, 131072, false, 0), rule(SFB_BASE_SP, 12, false, 0),
        rule(SFB_BASE_SP, -8, false, 0),     rule(SFB_BASE_FP, 16, true, 8),
        rule(SFB_BASE_FP, 16, true, -12),    rule(SFB_BASE_FP, 16, true, -512),
        rule(SFB_BASE_SP, 16, false, 0),     rule(SFB_BASE_SP, 16, false, 0),
        rule(SFB_BASE_SP, 16, false, 0),
    };
    enum { N = sizeof cases / sizeof *cases };
    struct sfb_rule out;

    cases[N - 3].ra_offset = -16;
    cases[N - 2].flags = SFB_RULE_OUTERMOST;
    cases[N - 1].ra_where = SFB_WHERE_SAME;
    for (unsigned i = 0; i < N; i++) {
        sfb_rule_cache_put(100 + i, 1, &cases[i]);
        cr_expect(not(sfb_rule_cache_get(100 + i, 1, &out)), "case %u", i);
    }
}
