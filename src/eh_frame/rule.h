/* Rows of the unwind table as rules, beside <sfb/eh_frame.h>. */
#ifndef SFB_EH_FRAME_RULE_H
#define SFB_EH_FRAME_RULE_H

#include "eh_frame/cfi_program.h"
#include "sfb/rule.h"

/* @return SFB_OK: the rule of the current row at pc; SFB_NOT_EXPRESSIBLE, SFB_BAD_CFI */
enum sfb_status sfb_cfi_row_rule(struct sfb_rule *out, const struct sfb_cfi_machine *machine,
                                 uint64_t pc);

/*
 * Gives the place of the caller's value of a register, by the current row.
 *
 * @param column  below the machine's
 * @return SFB_OK (UNSAVED also where it is undefined); SFB_NOT_EXPRESSIBLE, SFB_BAD_CFI
 */
enum sfb_status sfb_cfi_saved(struct sfb_saved *out, const struct sfb_cfi_machine *machine,
                              unsigned column, uint64_t pc);

/*
 * Tells how the row for a pc finds one register.
 *
 * @param column  below SFB_CFI_RULE_COLUMNS
 *
 * @return SFB_CFI_TOO_FAR also if no readable row covers the pc
 */
enum sfb_cfi_how sfb_cfi_how_at(const struct sfb_eh_frame *eh, uint64_t pc, unsigned column);

/*
 * sfb_eh_frame_find() with a budget.
 *
 * @param work  budget in bytes of CFI instructions; the entry's are subtracted
 *
 * @return as sfb_eh_frame_find(); SFB_WORK_LIMIT: the entry has more, work is now 0
 */
enum sfb_status sfb_eh_frame_find_within(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *work,
                                         struct sfb_rule *out, struct sfb_error *error);

#endif
