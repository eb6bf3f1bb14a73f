/*
 * A rule -> a row: start, info byte, words. Plain (1.4): the offsets of CFA, RA (unless the header
 * fixes it) and fp. Flexible (version 3, 3.2): a pair of words each. Outermost: no words.
 */
#include "toolchain/synth/sframe_bytes.h"
#include "toolchain/synth/sframe_put.h"

enum {
    INFO_BASE_SP = 0x01, /* 1.4.1 */
    INFO_COUNT_SHIFT = 1,
    INFO_WIDTH_SHIFT = 5,
    INFO_MANGLED_RA = 0x80,
    CONTROL_REG = 0x1, /* version 3, 3.2: counted from a register, else from the CFA */
    CONTROL_DEREF = 0x2,
    CONTROL_REG_SHIFT = 3,
    CONTROL_NONE = 0 /* fixed by the header, or unchanged; no offset follows */
};

/* Words of a row, all of one width. */
struct words {
    uint32_t at[6];
    unsigned count, width_log2;
};

static void add(struct words *words, uint32_t word, unsigned width_log2)
{
    words->at[words->count++] = word;
    if (words->width_log2 < width_log2)
        words->width_log2 = width_log2;
}

/* log2 of the bytes of a signed number. */
static unsigned width_of(int32_t n)
{
    if (n == (int8_t)n)
        return 0;
    return n == (int16_t)n ? 1 : 2;
}

static void add_offset(struct words *words, int32_t offset)
{
    add(words, (uint32_t)offset, width_of(offset));
}

/* Control words are unsigned. */
static void add_pair(struct words *words, uint32_t control, int32_t offset)
{
    add(words, control, control > UINT8_MAX ? 1 : 0);
    add_offset(words, offset);
}

static void add_plain(struct words *words, struct sframe_format f, const struct sfb_rule *rule)
{
    add_offset(words, rule->cfa_offset);
    if (sfb_abi_registers(f.abi).fixed_ra == 0 && rule->ra.where == SFB_WHERE_CFA)
        add_offset(words, rule->ra.offset);
    if (rule->fp.where == SFB_WHERE_CFA)
        add_offset(words, rule->fp.offset);
}

static uint32_t control_of(const struct sfb_saved *saved)
{
    switch (saved->where) {
    case SFB_WHERE_CFA: return CONTROL_DEREF;
    case SFB_WHERE_AT_REG:
        return (uint32_t)saved->reg << CONTROL_REG_SHIFT | CONTROL_REG | CONTROL_DEREF;
    case SFB_WHERE_IS_REG: return (uint32_t)saved->reg << CONTROL_REG_SHIFT | CONTROL_REG;
    default: return CONTROL_NONE;
    }
}

static uint32_t cfa_control(struct sframe_format f, const struct sfb_rule *rule)
{
    const struct sfb_abi_registers known = sfb_abi_registers(f.abi);
    const uint32_t reg = rule->cfa_base == SFB_BASE_SP   ? known.sp
                         : rule->cfa_base == SFB_BASE_FP ? known.fp
                                                         : rule->cfa_reg;

    return reg << CONTROL_REG_SHIFT | CONTROL_REG |
           (rule->flags & SFB_RULE_CFA_DEREF ? CONTROL_DEREF : 0);
}

static void add_flexible(struct words *words, struct sframe_format f, const struct sfb_rule *rule)
{
    const int fixed_ra = sfb_abi_registers(f.abi).fixed_ra;
    uint32_t ra = control_of(&rule->ra);
    const uint32_t fp = control_of(&rule->fp);

    if (fixed_ra != 0 && ra == CONTROL_DEREF && rule->ra.offset == fixed_ra)
        ra = CONTROL_NONE;
    add_pair(words, cfa_control(f, rule), rule->cfa_offset);
    if (ra != CONTROL_NONE)
        add_pair(words, ra, rule->ra.offset);
    else if (fp != CONTROL_NONE)
        add(words, CONTROL_NONE, 0);
    if (fp != CONTROL_NONE)
        add_pair(words, fp, rule->fp.offset);
}

uint8_t *sframe_put_row(uint8_t *to, struct sframe_format f, const struct sframe_entry *entry,
                        uint32_t start, const struct sfb_rule *rule)
{
    const bool big = f.abi == SFB_ABI_AARCH64_BE;
    struct words words = { .count = 0 };
    uint8_t info = 0;

    if (!(rule->flags & SFB_RULE_OUTERMOST)) {
        (entry->flexible ? add_flexible : add_plain)(&words, f, rule);
        info = (uint8_t)(words.count << INFO_COUNT_SHIFT | words.width_log2 << INFO_WIDTH_SHIFT);
        if (!entry->flexible && rule->cfa_base == SFB_BASE_SP)
            info |= INFO_BASE_SP;
        if (rule->flags & SFB_RULE_RA_SIGNED)
            info |= INFO_MANGLED_RA;
    }
    to = sframe_put(to, start, 1u << entry->start_log2, big);
    *to++ = info;
    for (unsigned i = 0; i < words.count; i++)
        to = sframe_put(to, words.at[i], 1u << words.width_log2, big);
    return to;
}
