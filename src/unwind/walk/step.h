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
 * @return SFB_OK; SFB_END (outermost, by the rule or by the stack); SFB_MISALIGNED, SFB_NO_PROGRESS,
 *         SFB_UNREADABLE, SFB_ZERO_RA, SFB_NO_REGISTER
 */
enum sfb_status sfb_step(struct sfb_regs *regs, const struct sfb_rule *rule,
                         struct sfb_memory *memory, const struct sfb_context *context);

/* Computes the CFA of a frame, as sfb_step() does. */
enum sfb_status sfb_step_cfa(uint64_t *cfa, const struct sfb_regs *regs,
                             const struct sfb_rule *rule, struct sfb_memory *memory,
                             const struct sfb_context *context);

/*
 * Computes the caller's value of one register.
 *
 * @param unsaved  its value if the frame has not saved it
 */
enum sfb_status sfb_step_saved(uint64_t *out, const struct sfb_saved *saved, uint64_t cfa,
                               uint64_t unsaved, const struct sfb_regs *regs,
                               struct sfb_memory *memory, const struct sfb_context *context);

#endif
