/* What goes into the rule cache comes out as it was, for its own module and pc, and nobody else's.
 */
#include "unwind/walk/rule_cache.h"

#include <string.h>

#include "support/test.h"

enum {
    UNIT = SFB_ARCH_LR ? 16 : 8, /* what CFA offsets are multiples of */
    CFA_MAX = ((1 << SFB_ARCH_CFA_BITS) - 1) * UNIT,
    LINE = 1 << SFB_ARCH_PC_SHIFT,                    /* from one place of a line to the next */
    ROUND = SFB_RULE_CACHE_WORDS << SFB_ARCH_PC_SHIFT /* keys so far apart share a place */
};

static struct sfb_rule_cache cache;
static const uint64_t key_max = (1ull << SFB_ARCH_PC_BITS) - LINE;

/*
 * A rule of this machine's compilers. On x86-64 words counts from fp up to the CFA, on AArch64 from
 * the CFA's register up to RA; -1: fp, and on AArch64 RA, is in its register.
 */
static struct sfb_rule rule(unsigned base, int32_t cfa, int32_t words)
{
    struct sfb_rule r = { .cfa_base = (uint8_t)base,
                          .ra.where = SFB_WHERE_CFA,
                          .fp.where = words < 0 ? SFB_WHERE_UNSAVED : SFB_WHERE_CFA,
                          .cfa_offset = cfa,
                          .ra.offset = -8 };

    if (!SFB_ARCH_LR) {
        r.fp.offset = words < 0 ? 0 : words * -8;
    } else if (words < 0) {
        r.ra.where = SFB_WHERE_UNSAVED;
        r.ra.offset = 0;
    } else {
        r.ra.offset = words * 8 - cfa;
        r.fp.offset = r.ra.offset - 8;
    }
    return r;
}

static bool has(uint64_t key, uint32_t id, const struct sfb_rule *want)
{
    struct sfb_rule out;

    memset(&out, 0xee, sizeof out);
    return sfb_rule_cache_get(&cache, key, id, &out) && memcmp(&out, want, sizeof out) == 0;
}

static bool has_any(uint64_t key, uint32_t id)
{
    struct sfb_rule out;

    return sfb_rule_cache_get(&cache, key, id, &out);
}

Test(rule_cache, gives_back_exactly_what_was_put)
{
    static const int32_t cfas[] = { UNIT, 2 * UNIT, 512, 4096, CFA_MAX - UNIT, CFA_MAX };
    static const int32_t words[] = { -1, 1, 2, 3, 8, 30 };
    static const uint64_t keys[] = { ROUND, ROUND - LINE, 0x123458, 0x7f0012345678 };
    static const uint32_t ids[] = { 1, 2, 511, 512, SFB_RULE_CACHE_ID_MAX };
    unsigned asked = 0;

    for (unsigned c = 0; c < sizeof cfas / sizeof *cfas; c++)
        for (unsigned w = 0; w < sizeof words / sizeof *words; w++)
            for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++)
                for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
                    for (unsigned base = SFB_BASE_SP; base <= SFB_BASE_FP; base++) {
                        struct sfb_rule r = rule(base, cfas[c], words[w]);

                        if (words[w] * 8 + 8 * SFB_ARCH_LR > cfas[c])
                            continue; /* not within the frame */
                        asked++;
                        sfb_rule_cache_put(&cache, keys[k], ids[i], &r);
                        cr_assert(has(keys[k], ids[i], &r));
                        cr_assert(not(has_any(keys[k], ids[i] ^ 3)));
                        cr_assert(not(has_any(keys[k] ^ ROUND, ids[i])));
                        cr_assert(not(has_any(keys[k] + (1ull << 32), ids[i])));
                        cr_assert(not(has_any(keys[k] | 1ull << SFB_ARCH_PC_BITS, ids[i])));
                    }
    cr_expect(lt(u32, 500, asked));
}

Test(rule_cache, knows_frames_without_a_caller)
{
    static const struct sfb_rule outermost = { .flags = SFB_RULE_OUTERMOST };

    sfb_rule_cache_put(&cache, 0x1000, 7, &outermost);
    cr_expect(has(0x1000, 7, &outermost));
}

Test(rule_cache, knows_nothing_at_first_and_nothing_of_modules_without_an_id)
{
    struct sfb_rule r = rule(SFB_BASE_SP, 16, 1);

    for (uint64_t key = 0; key < 20000; key++)
        for (uint32_t id = 0; id < 3; id++)
            cr_assert(not(has_any(key, id)));
    cr_assert(not(has_any(key_max, 0)));
    sfb_rule_cache_put(&cache, 0x1000, 0, &r);
    cr_expect(not(has_any(0x1000, 0)));
    cr_expect(eq(u64, sfb_rule_cache_look(&cache, 0x1000), 0));
}

/* As many pcs as a line has places, and all of them with the same first choice. */
Test(rule_cache, has_room_for_eight_of_a_line)
{
    struct sfb_rule r = rule(SFB_BASE_SP, 64, 2), last = rule(SFB_BASE_FP, 64, 3);
    unsigned found = 0;

    for (uint64_t i = 1; i <= SFB_RULE_CACHE_WAYS; i++)
        sfb_rule_cache_put(&cache, 0x5000 + i * ROUND, 1, &r);
    for (uint64_t i = 1; i <= SFB_RULE_CACHE_WAYS; i++)
        cr_expect(has(0x5000 + i * ROUND, 1, &r), "%u", (unsigned)i);
    /* What is there already is replaced where it is. */
    sfb_rule_cache_put(&cache, 0x5000 + 3 * ROUND, 2, &last);
    cr_expect(has(0x5000 + 3 * ROUND, 2, &last));
    /* One more costs one of them. */
    sfb_rule_cache_put(&cache, 0x5000, 1, &last);
    cr_expect(has(0x5000, 1, &last));
    for (uint64_t i = 1; i <= SFB_RULE_CACHE_WAYS; i++)
        found += has_any(0x5000 + i * ROUND, i == 3 ? 2 : 1);
    cr_expect(eq(u32, found, SFB_RULE_CACHE_WAYS - 1));
    for (uint64_t i = 1; i < SFB_RULE_CACHE_WAYS; i++)
        cr_expect(not(has_any(0x5000 + i * LINE, 1)), "other places of the line, other pcs");
}

/* In a line full of words that nobody asks for any more, too. */
Test(rule_cache, keeps_two_of_one_place)
{
    const struct sfb_rule frame = rule(SFB_BASE_SP, 64, -1);
    unsigned lost = 0;

    for (unsigned place = 0; place < 64; place++) {
        uint64_t a = 0x100000 + place * LINE, b;

        for (unsigned i = 0; i < SFB_RULE_CACHE_WAYS; i++)
            sfb_rule_cache_put(&cache, a + (i + 1) * (uint64_t)ROUND, 9, &frame);
        b = a + 100 * (uint64_t)ROUND;
        sfb_rule_cache_put(&cache, a, 9, &frame);
        sfb_rule_cache_put(&cache, b, 9, &frame);
        lost += !has(a, 9, &frame) || !has(b, 9, &frame);
    }
    cr_expect(eq(u32, lost, 0));
}

Test(rule_cache, leaves_out_what_does_not_fit)
{
    static const int32_t cfas[] = { CFA_MAX + UNIT, 12, -UNIT }, fps[] = { 8, -12, -8 * 32 };
    /* -8 is where x86-64 has it always; AArch64 within so many words above sp. */
    static const int32_t ras[] = { SFB_ARCH_LR ? -24 : -16, -12, 8 };
    const struct sfb_rule good = rule(SFB_BASE_SP, 16, SFB_ARCH_LR ? 1 : 2);
    struct sfb_rule cases[16];
    unsigned count = 0;

    for (unsigned i = 0; i < 3; i++) {
        cases[count++] = rule(SFB_BASE_SP, cfas[i], -1);
        cases[count] = good;
        cases[count++].fp.offset = fps[i];
        cases[count] = good;
        cases[count].ra.offset = ras[i];
        cases[count++].fp.offset = SFB_ARCH_LR ? ras[i] - 8 : good.fp.offset;
    }
    cases[count] = good;
    cases[count++].flags = SFB_RULE_ANY_REGISTER;
    cases[count] = good;
    cases[count++].flags = SFB_RULE_SIGNAL;
    cases[count] = good; /* fp stored, but not beside RA */
    cases[count++].ra.where = SFB_WHERE_UNSAVED;
    if (!SFB_ARCH_LR) {
        cases[count] = rule(SFB_BASE_SP, 16, -1);
        cases[count++].ra.where = SFB_WHERE_UNSAVED;
        cases[count++] = rule(SFB_BASE_SP, 0, -1); /* would look like a frame without a caller */
    }
    sfb_rule_cache_put(&cache, 0x1000, 1, &good);
    cr_expect(has(0x1000, 1, &good), "the one that all are made of does fit");
    sfb_rule_cache_put(&cache, key_max + ROUND, 1, &good);
    cr_expect(not(has_any(key_max + ROUND, 1)), "no pc of user space");

    for (unsigned i = 0; i < count; i++) {
        sfb_rule_cache_put(&cache, 0x2000 + LINE * i, 1, &cases[i]);
        cr_expect(not(has_any(0x2000 + LINE * i, 1)), "case %u", i);
    }
}
