/*
 * One step along the chain of frame records: a guess, for code that no table covers.
 *
 *        higher addresses
 *      |  caller's record      | <--+   AAPCS64, "The Frame Pointer": x29 points at the innermost
 *      :                       :    |   record, each record at that of the caller, and the
 * outermost |  return address       |    |   one at nothing. Debian's arm64 libc keeps to it. |
 * caller's fp          | ---+
 *      +-----------------------+ <- fp
 *
 * What can go wrong: a function that has stored no record (yet), so that the chain leads past its
 * caller; and an fp that is used as any other register. Therefore
 *
 * - a return address must lie behind a call instruction, and records must lie ever further out;
 * - an interrupted function is believed to have stored its record only if the record says what the
 *   link register says: code before its first call, behind its prologue. Elsewhere either of the
 *   two may be the caller, and nothing but a table could tell which;
 * - where the records of a function lie within its frame is not known, and so neither is the
 *   caller's sp. If the caller has rows they say where its record lies from its CFA, and its code
 *   says whether it stored one: then all is known again.
 */
#include "unwind/fallback_frame_pointer.h"

#include "unwind/arch.h"
#include "unwind/memory.h"

#define RECORD_SIZE 16u

static bool read_record(struct sfb_walker *walker, uint64_t fp, struct sfb_regs *out)
{
    if ((fp & 7) || fp < walker->regs.sp || fp > UINT64_MAX - RECORD_SIZE ||
        !sfb_memory_read(walker->memory, fp, &out->fp) ||
        !sfb_memory_read(walker->memory, fp + 8, &out->pc))
        return false;
    out->pc &= SFB_ARCH_CODE_MASK;
    out->sp = fp + RECORD_SIZE;
    out->lr = 0;
    out->lr_known = false;
    return true;
}

static bool is_believable(struct sfb_walker *walker, const struct sfb_regs *caller)
{
    uint64_t next = caller->fp & SFB_ARCH_DATA_MASK;

    if (walker->current.kind == SFB_FRAME_PC &&
        (!walker->regs.lr_known || (walker->regs.lr & SFB_ARCH_CODE_MASK) != caller->pc))
        return false;
    return (next == 0 || next >= caller->sp) && sfb_arch_is_call(&walker->table_memory, caller->pc);
}

enum sfb_status sfb_frame_pointer_step(struct sfb_walker *walker)
{
    struct sfb_regs caller;
    uint64_t fp;

    if (!SFB_ARCH_FRAME_RECORDS)
        return SFB_NO_FRAME_RECORD;
    fp = walker->regs.fp & SFB_ARCH_DATA_MASK;
    /* If this frame is a wrong guess of some table, the next would hide it. */
    if (walker->current.kind == SFB_FRAME_RA &&
        !sfb_arch_is_call(&walker->table_memory, walker->regs.pc))
        return SFB_NO_FRAME_RECORD;
    /* The chain ends where a record says so; else zero is what nobody has set since `_start`. */
    if (fp == 0 && walker->current.source == SFB_SOURCE_FRAME_POINTER)
        return SFB_END;
    if (!read_record(walker, fp, &caller) || !is_believable(walker, &caller))
        return SFB_NO_FRAME_RECORD;
    walker->regs = caller;
    walker->sp_lost = true;
    return SFB_OK;
}

enum sfb_status sfb_frame_pointer_find_sp(struct sfb_walker *walker, uint64_t pc)
{
    const struct sfb_section *section = &walker->module->section;
    uint64_t fp = walker->regs.fp & SFB_ARCH_DATA_MASK, sp;
    struct sfb_fde fde;
    struct sfb_rule rule;
    enum sfb_status status = sfb_fde_find(section, pc, &fde, NULL);

    if (status == SFB_OK)
        status = sfb_section_find(section, pc, &rule, NULL);
    if (status != SFB_OK)
        return status;
    if (rule.cfa_base == SFB_BASE_FP) { /* the step over it finds the next sp without this one */
        walker->sp_lost = false;
        return SFB_OK;
    }
    if (rule.fp_where != SFB_WHERE_CFA || rule.ra_where != SFB_WHERE_CFA ||
        rule.ra_offset != rule.fp_offset + 8 ||
        !sfb_arch_sets_fp(&walker->table_memory, fde.start, pc))
        return SFB_NO_REGISTER;
    sp = fp - (uint64_t)(int64_t)rule.fp_offset - (uint64_t)(int64_t)rule.cfa_offset;
    if (sp < walker->regs.sp || sp > fp)
        return SFB_NO_REGISTER;
    walker->regs.sp = sp;
    walker->sp_lost = false;
    return SFB_OK;
}
