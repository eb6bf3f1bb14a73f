/* Executes a rule; see step.c. */
#ifndef SFB_UNWIND_WALK_STEP_H
#define SFB_UNWIND_WALK_STEP_H

#include "sfb/rule.h"
#include "sfb/walk.h"

/*
 * Turns the registers of a frame into its caller's.
 *
 * @param regs     changed on SFB_OK only
 * @param context  all registers of that frame; NULL: only regs is known
 * @return SFB_OK; SFB_END (the rule, or the stack, says that there is no caller); SFB_MISALIGNED,
 *         SFB_NO_PROGRESS, SFB_UNREADABLE, SFB_ZERO_RA, SFB_NO_REGISTER
 */
enum sfb_status sfb_step(struct sfb_regs *regs, const struct sfb_rule *rule,
                         struct sfb_memory *memory, const struct sfb_context *context);

/* What sfb_step() computes on its way to rules that name registers: the CFA of a frame. */
enum sfb_status sfb_step_cfa(uint64_t *cfa, const struct sfb_regs *regs,
                             const struct sfb_rule *rule, struct sfb_memory *memory,
                             const struct sfb_context *context);

/*
 * The caller's value of one register.
 *
 * @param unsaved  what it is where nothing saved it
 */
enum sfb_status sfb_step_saved(uint64_t *out, const struct sfb_saved *saved, uint64_t cfa,
                               uint64_t unsaved, const struct sfb_regs *regs,
                               struct sfb_memory *memory, const struct sfb_context *context);

#endif
