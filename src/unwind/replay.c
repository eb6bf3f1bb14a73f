/*
 * Tables are asked for pc, sp and fp alone, and one row in a thousand needs another register: the
 * CFA of lazy binding is rbx + 32. So this follows all registers that calls preserve, from the
 * frame where they are known, out to the one that asks. What was given out already stays; only the
 * registers are computed again. Done once: the frame is a new place to begin from.
 */
#include "unwind/replay.h"

#include "eh_frame/expression.h"
#include "eh_frame/program.h"
#include "unwind/arch.h"
#include "unwind/memory.h"
#include "unwind/step.h"
#include "unwind/walker.h"

/* The table that covers a pc; modules are asked anew where it lies in another one. */
static const struct sfb_eh_frame *table_of(struct sfb_walker *walker, uint64_t pc)
{
    const struct sfb_module *m = walker->module;

    if (!m || pc - m->start >= m->end - m->start)
        m = walker->module = walker->modules->find(walker->modules, pc, walker->room);
    return m && m->eh_frame_status == SFB_OK ? &m->eh_frame : NULL;
}

/* What a cell says of a register, for those that rules do not speak of. */
static bool cell_value(uint64_t *out, const struct sfb_cfi_machine *m, unsigned column, uint64_t pc,
                       uint64_t cfa, const struct sfb_context *context, struct sfb_memory *memory)
{
    const struct sfb_cfi_cell *cell = &m->row.cell[column];
    struct sfb_term t = { .base = SFB_TERM_CFA, .inner = cell->offset };
    bool word = cell->how == SFB_CFI_OFFSET || cell->how == SFB_CFI_EXPRESSION;
    uint64_t value = cfa;

    if (cell->how == SFB_CFI_REGISTER)
        t = (struct sfb_term){ .base = SFB_TERM_REG, .reg = cell->reg };
    else if ((cell->how == SFB_CFI_EXPRESSION || cell->how == SFB_CFI_VAL_EXPRESSION) &&
             sfb_expression_term(&t, m->eh, (uint32_t)cell->offset, pc, true) != SFB_OK)
        return false;
    if (cell->how == SFB_CFI_UNDEFINED || cell->how == SFB_CFI_TOO_FAR || t.deref ||
        t.base == SFB_TERM_NUMBER)
        return false;
    if (t.base == SFB_TERM_REG) {
        if (t.reg >= SFB_CONTEXT_REGS || !(context->valid >> t.reg & 1))
            return false;
        value = context->reg[t.reg];
    }
    value += (uint64_t)t.inner;
    if (!word) {
        *out = value;
        return true;
    }
    return (value & 7) == 0 && sfb_memory_read(memory, value & SFB_ARCH_DATA_MASK, out);
}

/* The registers that calls preserve, but sp and fp. */
static void step_preserved(struct sfb_context *out, const struct sfb_cfi_machine *m, uint64_t pc,
                           uint64_t cfa, const struct sfb_context *in, struct sfb_memory *memory)
{
    out->valid = 0;
    for (uint8_t reg = 0; reg < SFB_CONTEXT_REGS; reg++) {
        unsigned column = sfb_cfi_column(m->eh, m->fde, reg);
        uint8_t how;

        if (column < SFB_CFI_RULE_COLUMNS || column >= SFB_CFI_COLUMNS_MAX)
            continue;
        how = m->row.cell[column].how;
        if (how == SFB_CFI_UNSET || how == SFB_CFI_SAME) {
            out->reg[reg] = in->reg[reg];
            out->valid |= in->valid & (uint64_t)1 << reg;
        } else if (cell_value(&out->reg[reg], m, column, pc, cfa, in, memory)) {
            out->valid |= (uint64_t)1 << reg;
        }
    }
}

/* One frame: context becomes its caller's. */
static bool step_all(struct sfb_walker *walker, struct sfb_context *context,
                     enum sfb_frame_kind kind)
{
    struct sfb_cfi_cell kept[SFB_CFI_KEPT(SFB_CFI_COLUMNS_MAX)];
    struct sfb_cfi_machine machine;
    struct sfb_cfi_fde fde;
    struct sfb_context caller;
    struct sfb_regs regs;
    struct sfb_rule rule;
    const struct sfb_eh_frame *eh;
    uint64_t pc, cfa;

    sfb_arch_regs(&regs, context);
    regs.lr_known &= kind == SFB_FRAME_PC;
    pc = regs.pc - (kind == SFB_FRAME_RA);
    eh = table_of(walker, pc);
    if (!eh || sfb_eh_frame_fde_find(eh, pc, &fde, NULL) != SFB_OK ||
        sfb_cfi_machine_init(&machine, eh, &fde, SFB_CFI_COLUMNS_MAX, kept) != SFB_OK)
        return false;
    do {
        if (sfb_cfi_machine_next(&machine) != SFB_OK)
            return false;
    } while (pc >= machine.end);
    if (sfb_cfi_row_rule(&rule, &machine, pc) != SFB_OK ||
        sfb_step_cfa(&cfa, &regs, &rule, walker->memory, context) != SFB_OK)
        return false;
    step_preserved(&caller, &machine, pc, cfa, context, walker->memory);
    if (sfb_step(&regs, &rule, walker->memory, context) != SFB_OK)
        return false;
    context->valid = caller.valid | (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP |
                     (uint64_t)1 << SFB_ARCH_FP;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (caller.valid >> i & 1)
            context->reg[i] = caller.reg[i];
    context->reg[SFB_ARCH_PC] = regs.pc;
    context->reg[SFB_ARCH_SP] = regs.sp;
    context->reg[SFB_ARCH_FP] = regs.fp;
    return true;
}

bool sfb_replay(struct sfb_walker *walker)
{
    enum { FRAMES_MAX = 1 << 16 };
    struct sfb_context context = *walker->full;
    enum sfb_frame_kind kind = walker->full_kind;
    uint64_t first = context.reg[SFB_ARCH_SP] & SFB_ARCH_DATA_MASK, sp = first, last;

    if (sfb_walker_is_full(walker))
        return false; /* there it stands, and the register is not known */
    /* The walk came here in fewer frames, by the same rules, if nothing is damaged. */
    for (unsigned n = 0; n < FRAMES_MAX; n++) {
        last = sp;
        if (!step_all(walker, &context, kind))
            return false;
        kind = SFB_FRAME_RA;
        sp = context.reg[SFB_ARCH_SP];
        if (sp == walker->regs.sp && context.reg[SFB_ARCH_PC] == walker->regs.pc) {
            *walker->full = context;
            walker->full_kind = kind;
            return true;
        }
        /* Outwards only; the first frame may have pushed nothing yet. */
        if (sp > walker->regs.sp || (sp <= last && last != first))
            return false;
    }
    return false;
}
