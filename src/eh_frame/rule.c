/*
 * Turns a row of the unwind table into a rule.
 */
#include "eh_frame/rule.h"

#include "base/fail.h"
#include "eh_frame/expression.h"

static bool fits(int64_t n)
{
    return n == (int32_t)n;
}

static enum sfb_status set_cfa(struct sfb_rule *out, const struct sfb_cfi_machine *m, uint64_t pc)
{
    const struct sfb_abi_registers known = sfb_abi_registers(m->eh->abi);
    struct sfb_term t = { .base = SFB_TERM_REG, .reg = m->row.cfa_reg, .inner = m->row.cfa_offset };
    enum sfb_status status;

    if (m->row.cfa_by_expression) {
        status = sfb_expression_term(&t, m->eh, m->row.cfa_expression, pc, false);
        if (status != SFB_OK)
            return status;
    } else if (m->row.cfa_too_far || m->row.cfa_reg == UINT8_MAX) {
        return SFB_NOT_EXPRESSIBLE;
    }
    if (t.base != SFB_TERM_REG || !fits(t.inner))
        return SFB_NOT_EXPRESSIBLE;
    out->cfa_base = SFB_BASE_REG;
    if (t.reg == known.sp)
        out->cfa_base = SFB_BASE_SP;
    else if (t.reg == known.fp)
        out->cfa_base = SFB_BASE_FP;
    else
        out->cfa_reg = t.reg;
    out->cfa_offset = (int32_t)t.inner;
    if (t.deref) {
        out->flags |= SFB_RULE_CFA_DEREF;
        out->cfa_add = t.outer;
    }
    return SFB_OK;
}

/* Sets a saved register by a term: base + offset, or the word there. */
static enum sfb_status set_term(struct sfb_saved *out, struct sfb_term t, bool word)
{
    if (t.deref && (word || t.outer != 0))
        return SFB_NOT_EXPRESSIBLE;
    word |= t.deref;
    if (t.base == SFB_TERM_NUMBER || !fits(t.inner))
        return SFB_NOT_EXPRESSIBLE;
    if (t.base == SFB_TERM_CFA)
        out->where = word ? SFB_WHERE_CFA : SFB_WHERE_IS_CFA;
    else
        out->where = word ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG;
    out->reg = t.reg;
    out->offset = (int32_t)t.inner;
    return SFB_OK;
}

enum sfb_status sfb_cfi_saved(struct sfb_saved *out, const struct sfb_cfi_machine *m,
                              unsigned column, uint64_t pc)
{
    const struct sfb_cfi_cell *cell = &m->cell[column];
    struct sfb_term t = { .base = SFB_TERM_CFA, .inner = cell->offset };
    enum sfb_status status;

    switch ((enum sfb_cfi_how)cell->how) {
    case SFB_CFI_UNSET:
    case SFB_CFI_SAME:
    case SFB_CFI_UNDEFINED: out->where = SFB_WHERE_UNSAVED; return SFB_OK;
    case SFB_CFI_OFFSET: return set_term(out, t, true);
    case SFB_CFI_VAL_OFFSET: return set_term(out, t, false);
    case SFB_CFI_REGISTER:
        t = (struct sfb_term){ .base = SFB_TERM_REG, .reg = cell->reg };
        return set_term(out, t, false);
    case SFB_CFI_EXPRESSION:
    case SFB_CFI_VAL_EXPRESSION:
        status = sfb_expression_term(&t, m->eh, (uint32_t)cell->offset, pc, true);
        if (status != SFB_OK)
            return status;
        return set_term(out, t, cell->how == SFB_CFI_EXPRESSION);
    case SFB_CFI_TOO_FAR: break;
    }
    return SFB_NOT_EXPRESSIBLE;
}

/*
 * A return address that no instruction has moved is still in its column's register: the link register,
 * or another one that the call used or the function keeps it in (AArch64, glibc's rawmemchr: x15).
 */
static void set_unmoved_ra(struct sfb_rule *out, const struct sfb_cfi_machine *m)
{
    if (out->ra.where == SFB_WHERE_UNSAVED &&
        m->fde->ra_column != sfb_abi_registers(m->eh->abi).ra) {
        out->ra.where = SFB_WHERE_IS_REG;
        out->ra.reg = m->fde->ra_column;
    }
}

static bool is_general(const struct sfb_rule *r)
{
    return r->cfa_base == SFB_BASE_REG || (r->flags & SFB_RULE_CFA_DEREF) ||
           r->ra.where > SFB_WHERE_CFA || r->fp.where > SFB_WHERE_CFA ||
           r->sp.where != SFB_WHERE_UNSAVED;
}

enum sfb_status sfb_cfi_row_rule(struct sfb_rule *out, const struct sfb_cfi_machine *m, uint64_t pc)
{
    struct sfb_rule rule = { .flags = 0 };
    enum sfb_status status;

    if (m->fde->signal)
        rule.flags |= SFB_RULE_SIGNAL;
    if (m->cell[SFB_CFI_RA].how == SFB_CFI_UNDEFINED) {
        rule.flags |= SFB_RULE_OUTERMOST;
        *out = rule;
        return SFB_OK;
    }
    if (m->eh_return && !m->fde->signal)
        rule.flags |= SFB_RULE_EH_RETURN;
    if (m->row.ra_signed)
        rule.flags |= SFB_RULE_RA_SIGNED;
    if (m->fde->key_b)
        rule.flags |= SFB_RULE_RA_KEY_B;
    status = set_cfa(&rule, m, pc);
    if (status == SFB_OK)
        status = sfb_cfi_saved(&rule.ra, m, SFB_CFI_RA, pc);
    if (status == SFB_OK)
        status = sfb_cfi_saved(&rule.fp, m, SFB_CFI_FP, pc);
    if (status == SFB_OK)
        status = sfb_cfi_saved(&rule.sp, m, SFB_CFI_SP, pc);
    if (status != SFB_OK)
        return status;
    set_unmoved_ra(&rule, m);
    if (is_general(&rule))
        rule.flags |= SFB_RULE_ANY_REGISTER;
    *out = rule;
    return SFB_OK;
}

/* (Not inlined: so its stack and the stack for reading the entry are not needed at the same time.)
 */
static __attribute__((noinline)) enum sfb_status rule_at(struct sfb_rule *out,
                                                         const struct sfb_eh_frame *eh,
                                                         const struct sfb_cfi_fde *fde, uint64_t pc)
{
    struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_CFI_RULE_COLUMNS)];
    struct sfb_cfi_machine machine;
    enum sfb_status status = sfb_cfi_machine_init(&machine, eh, fde, SFB_CFI_RULE_COLUMNS, cells);

    while (status == SFB_OK) {
        status = sfb_cfi_machine_next(&machine);
        if (status == SFB_OK && pc < machine.end)
            return sfb_cfi_row_rule(out, &machine, pc);
    }
    return status == SFB_END ? SFB_NO_CFI : status;
}

enum sfb_cfi_how sfb_cfi_how_at(const struct sfb_eh_frame *eh, uint64_t pc, unsigned column)
{
    struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_CFI_RULE_COLUMNS)];
    struct sfb_cfi_machine machine;
    struct sfb_cfi_fde fde;
    enum sfb_status status = sfb_eh_frame_fde_find(eh, pc, &fde, NULL);

    if (status == SFB_OK)
        status = sfb_cfi_machine_init(&machine, eh, &fde, SFB_CFI_RULE_COLUMNS, cells);
    while (status == SFB_OK) {
        status = sfb_cfi_machine_next(&machine);
        if (status == SFB_OK && pc < machine.end)
            return (enum sfb_cfi_how)machine.cell[column].how;
    }
    return SFB_CFI_TOO_FAR;
}

enum sfb_status sfb_eh_frame_find(const struct sfb_eh_frame *eh, uint64_t pc, struct sfb_rule *out,
                                  struct sfb_error *error)
{
    uint32_t work = UINT32_MAX;

    return sfb_eh_frame_find_within(eh, pc, &work, out, error);
}

enum sfb_status sfb_eh_frame_find_within(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *work,
                                         struct sfb_rule *out, struct sfb_error *error)
{
    struct sfb_cfi_fde fde;
    enum sfb_status status = sfb_eh_frame_fde_find(eh, pc, &fde, error);
    uint64_t size;

    if (status != SFB_OK)
        return status;
    /* Each instruction has at least a byte. */
    size = (uint64_t)(fde.initial_end - fde.initial) + (fde.program_end - fde.program);
    if (size > *work) {
        *work = 0;
        return SFB_WORK_LIMIT;
    }
    *work -= (uint32_t)size;
    status = rule_at(out, eh, &fde, pc);
    if (status != SFB_OK && status != SFB_NO_CFI)
        return sfb_fail(error, status, "instructions", fde.offset);
    return status;
}
