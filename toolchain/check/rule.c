/* A row -> a rule, comparable with the library's and .eh_frame's. */
#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/part.h"

/* A control word of a flexible row: register or CFA, loaded or not, the DWARF number. */
enum { CONTROL_REGISTER = 1, CONTROL_LOAD = 2, CONTROL_UNUSED = 4, CONTROL_NUMBER_SHIFT = 3 };

static unsigned stack_pointer(const struct sframe_part *p)
{
    return p->abi == SFRAME_ABI_S390X ? 15 : sfb_abi_registers(p->abi).sp;
}

static unsigned frame_pointer(const struct sframe_part *p)
{
    return p->abi == SFRAME_ABI_S390X ? 11 : sfb_abi_registers(p->abi).fp;
}

static void set_base(struct sfb_rule *r, const struct sframe_part *p, unsigned number)
{
    if (number == stack_pointer(p)) {
        r->cfa_base = SFB_BASE_SP;
    } else if (number == frame_pointer(p)) {
        r->cfa_base = SFB_BASE_FP;
    } else {
        r->cfa_base = SFB_BASE_REG;
        r->cfa_reg = (uint8_t)number;
        r->flags |= SFB_RULE_ANY_REGISTER;
    }
}

/* Control words are unsigned: of the row's bytes, not sign-extended. */
static uint32_t control_word(const struct sframe_row *row, unsigned index)
{
    return (uint32_t)row->word[index] & UINT32_MAX >> (32 - (8u << row->width));
}

/* @return whether the pair of words is valid */
static bool read_saved(struct sfb_saved *out, const struct sframe_row *row, unsigned index)
{
    const uint32_t control = control_word(row, index), number = control >> CONTROL_NUMBER_SHIFT;

    if ((control & CONTROL_UNUSED) != 0 || number > UINT8_MAX)
        return false;
    out->reg = (control & CONTROL_REGISTER) ? (uint8_t)number : 0;
    out->offset = row->word[index + 1];
    if (control & CONTROL_REGISTER)
        out->where = (control & CONTROL_LOAD) ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG;
    else
        out->where = (control & CONTROL_LOAD) ? SFB_WHERE_CFA : SFB_WHERE_IS_CFA;
    return true;
}

static const char *flexible_rule(struct sfb_rule *r, const struct sframe_part *p,
                                 const struct sframe_row *row)
{
    const uint32_t control = control_word(row, 0);
    const bool ra_is_padding = row->count > 2 && row->word[2] == 0;
    const unsigned fp_word = ra_is_padding ? 3 : 4;

    if (row->count < 2 || row->count > 6)
        return "2 to 6 words are needed";
    if ((control & CONTROL_UNUSED) != 0 || (control & CONTROL_REGISTER) == 0 ||
        control >> CONTROL_NUMBER_SHIFT > UINT8_MAX)
        return "the control word of the CFA names no register";
    set_base(r, p, control >> CONTROL_NUMBER_SHIFT);
    r->cfa_offset = row->word[1];
    if (control & CONTROL_LOAD)
        r->flags |= SFB_RULE_CFA_DEREF | SFB_RULE_ANY_REGISTER;
    if (row->count > 2 && !ra_is_padding && (row->count < 4 || !read_saved(&r->ra, row, 2)))
        return "the words of RA are no pair";
    if (row->count > fp_word && (row->count != fp_word + 2 || !read_saved(&r->fp, row, fp_word)))
        return "the words of FP are no pair";
    if (row->count > 2 && row->count < fp_word)
        return "words that belong to nothing";
    return NULL;
}

static const char *plain_rule(struct sfb_rule *r, const struct sframe_part *p,
                              const struct sframe_row *row)
{
    unsigned next = 1;

    if (row->count > sframe_most_words(p))
        return "more offsets than the ABI has";
    r->cfa_base = (row->info & ROW_BASE_SP) ? SFB_BASE_SP : SFB_BASE_FP;
    r->cfa_offset = row->word[0];
    if (p->abi == SFRAME_ABI_S390X)
        r->cfa_offset = row->word[0] * 8 + 160;
    if (p->fixed_ra == 0 && next < row->count) {
        r->ra.where = SFB_WHERE_CFA;
        r->ra.offset = row->word[next++];
    }
    if (p->fixed_fp != 0) {
        r->fp.where = SFB_WHERE_CFA;
        r->fp.offset = p->fixed_fp;
    } else if (next < row->count) {
        r->fp.where = SFB_WHERE_CFA;
        r->fp.offset = row->word[next];
    }
    return NULL;
}

const char *sframe_row_rule(struct sfb_rule *out, const struct sframe_part *part,
                            const struct sframe_entry *entry, const struct sframe_row *row)
{
    memset(out, 0, sizeof *out);
    if (part->version->has_attribute && (entry->info & FUNCTION_SIGNAL) != 0)
        out->flags |= SFB_RULE_SIGNAL;
    if (row->count == 0) {
        out->flags |= SFB_RULE_OUTERMOST;
        return part->version->least_words == 0 ? NULL : "no offset at all";
    }
    if (part->fixed_ra != 0) {
        out->ra.where = SFB_WHERE_CFA;
        out->ra.offset = part->fixed_ra;
    }
    if (row->info & ROW_MANGLED)
        out->flags |= SFB_RULE_RA_SIGNED;
    if (entry->info & FUNCTION_KEY_B)
        out->flags |= SFB_RULE_RA_KEY_B;
    return sframe_is_flex(entry) ? flexible_rule(out, part, row) : plain_rule(out, part, row);
}
