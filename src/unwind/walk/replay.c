/*
 * A walk tracks only pc, sp and fp, but one row in a thousand needs another register: the CFA of lazy
 * binding is rbx + 32. So the replay follows all callee-saved registers from the anchor, where they are
 * known, out to the current frame. Frames already given stay; only registers are computed again. Once:
 * the current frame becomes the new anchor.
 */
#include "unwind/walk/replay.h"

#include <string.h>

#include "base/memory.h"
#include "eh_frame/rule.h"
#include "unwind/machine/arch.h"
#include "unwind/walk/late_fp.h"
#include "unwind/walk/position.h"
#include "unwind/walk/step.h"

/* @return the table that covers a pc; looks up the module again if the pc is in another one */
static const struct sfb_eh_frame *table_of(struct sfb_walk *walker, uint64_t pc)
{
    return sfb_walker_find_module(walker, pc) && walker->module->eh_frame_status == SFB_OK
               ? &walker->module->eh_frame
               : NULL;
}

/* Gives the caller's value of a register that rules do not state, by the row. */
static bool find_value(uint64_t *out, const struct sfb_cfi_machine *m, unsigned column, uint64_t pc,
                       uint64_t cfa, const struct sfb_regs *regs, const struct sfb_context *context,
                       struct sfb_memory *memory)
{
    struct sfb_saved saved = { .reg = 0 };

    return m->cell[column].how != SFB_CFI_UNDEFINED &&
           sfb_cfi_saved(&saved, m, column, pc) == SFB_OK &&
           sfb_step_saved(out, &saved, cfa, 0, regs, memory, context) == SFB_OK;
}

enum { CALLEE_SAVED = SFB_ARCH_CFI_COLUMNS - SFB_CFI_RULE_COLUMNS };

/* The caller's callee-saved registers but sp and fp, by their columns. */
struct callee_saved {
    uint64_t value[CALLEE_SAVED];
    uint64_t valid; /* by their numbers, as in struct sfb_context */
};

static void step_callee_saved(struct callee_saved *out, const struct sfb_cfi_machine *m,
                              uint64_t pc, uint64_t cfa, const struct sfb_regs *regs,
                              const struct sfb_context *in, struct sfb_memory *memory)
{
    out->valid = 0;
    for (uint8_t reg = 0; reg < SFB_CONTEXT_REGS; reg++) {
        unsigned column = sfb_cfi_column(m->eh, m->fde, reg);
        uint64_t *value;
        uint8_t how;

        if (column < SFB_CFI_RULE_COLUMNS || column >= SFB_ARCH_CFI_COLUMNS)
            continue;
        value = &out->value[column - SFB_CFI_RULE_COLUMNS];
        how = m->cell[column].how;
        if (how == SFB_CFI_UNSET || how == SFB_CFI_SAME) {
            *value = in->reg[reg];
            out->valid |= in->valid & (uint64_t)1 << reg;
        } else if (find_value(value, m, column, pc, cfa, regs, in, memory)) {
            out->valid |= (uint64_t)1 << reg;
        }
    }
}

/* Steps one frame: context becomes its caller's. */
static bool step_all(struct sfb_walk *walker, struct sfb_context *context, enum sfb_frame_kind kind)
{
    struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_ARCH_CFI_COLUMNS)];
    struct sfb_cfi_machine machine;
    struct sfb_cfi_fde fde;
    struct callee_saved caller;
    struct sfb_regs regs;
    struct sfb_rule rule;
    const struct sfb_eh_frame *eh;
    uint64_t pc, cfa;

    sfb_arch_regs(&regs, context);
    regs.lr_known &= kind == SFB_FRAME_PC;
    pc = regs.pc - (kind == SFB_FRAME_RA);
    eh = table_of(walker, pc);
    if (!eh || sfb_eh_frame_fde_find(eh, pc, &fde, NULL) != SFB_OK ||
        sfb_cfi_machine_init(&machine, eh, &fde, SFB_ARCH_CFI_COLUMNS, cells) != SFB_OK)
        return false;
    if (!sfb_walker_spend(walker, 1 + (uint64_t)(fde.program_end - fde.program)))
        return false;
    do {
        if (sfb_cfi_machine_next(&machine) != SFB_OK)
            return false;
    } while (pc >= machine.end);
    if (sfb_cfi_row_rule(&rule, &machine, pc) != SFB_OK ||
        sfb_step_cfa(&cfa, &regs, &rule, walker->memory, context) != SFB_OK)
        return false;
    step_callee_saved(&caller, &machine, pc, cfa, &regs, context, walker->memory);
    sfb_late_fp_mend(walker, &rule, pc, kind, &rule);
    if (sfb_step(&regs, &rule, walker->memory, context) != SFB_OK)
        return false;
    context->valid = caller.valid | (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP |
                     (uint64_t)1 << SFB_ARCH_FP;
    for (uint8_t reg = 0; reg < SFB_CONTEXT_REGS; reg++)
        if (caller.valid >> reg & 1)
            context->reg[reg] = caller.value[sfb_cfi_column(eh, &fde, reg) - SFB_CFI_RULE_COLUMNS];
    context->reg[SFB_ARCH_PC] = regs.pc;
    context->reg[SFB_ARCH_SP] = regs.sp;
    context->reg[SFB_ARCH_FP] = regs.fp;
    return true;
}

/*
 * @return whether walker->anchor, stepped in place, reached the walker's frame; if not, it is on a frame on
 *         the way, or cleared
 */
static bool replay_from_anchor(struct sfb_walk *walker)
{
    enum { FRAMES_MAX = 1 << 16 };
    struct sfb_context *context = walker->anchor;
    uint64_t first = context->reg[SFB_ARCH_SP] & SFB_ARCH_DATA_MASK, sp = first, last;

    /* A limit: unless tables are damaged, the walk came here by the same rules in fewer frames. */
    for (unsigned n = 0; n < FRAMES_MAX; n++) {
        last = sp;
        if (!step_all(walker, context, (enum sfb_frame_kind)walker->anchor_kind))
            return false;
        walker->anchor_kind = SFB_FRAME_RA;
        sp = context->reg[SFB_ARCH_SP];
        if (sp == walker->regs.sp && context->reg[SFB_ARCH_PC] == walker->regs.pc)
            return true;
        /* Outwards only; the first frame may have pushed nothing yet. */
        if (sp > walker->regs.sp || (sp <= last && last != first))
            break;
    }
    memset(context, 0, sizeof *context); /* it has left the walk's frames */
    return false;
}

/* Not inlined: see advance_with_scratch(). */
static __attribute__((noinline)) bool replay_with_scratch(struct sfb_walk *walker)
{
    struct sfb_module scratch;
    bool found;

    walker->scratch = &scratch;
    walker->module = NULL;
    found = replay_from_anchor(walker);
    walker->scratch = NULL;
    walker->module = NULL;
    return found;
}

bool sfb_replay(struct sfb_walk *walker)
{
    if (replay_from_anchor(walker))
        return true;
    return walker->module == &sfb_module_not_cached && replay_with_scratch(walker);
}
