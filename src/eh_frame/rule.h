/* Rows of the unwind table as rules, beside <sfb/eh_frame.h>. */
#ifndef SFB_EH_FRAME_RULE_H
#define SFB_EH_FRAME_RULE_H

#include "eh_frame/program.h"
#include "sfb/rule.h"

/* @return SFB_OK: the rule of the current row at pc; SFB_NOT_EXPRESSIBLE, SFB_BAD_CFI */
enum sfb_status sfb_cfi_row_rule(struct sfb_rule *out, const struct sfb_cfi_machine *machine,
                                 uint64_t pc);

/*
 * Where the current row says that the caller's value of a register is.
 *
 * @param column  below the machine's
 * @return SFB_OK (UNSAVED also where it is undefined); SFB_NOT_EXPRESSIBLE, SFB_BAD_CFI
 */
enum sfb_status sfb_cfi_saved(struct sfb_saved *out, const struct sfb_cfi_machine *machine,
                              unsigned column, uint64_t pc);

/*
 * How the row for a pc finds one register.
 *
 * @param column  below SFB_CFI_RULE_COLUMNS
 *
 * @return SFB_CFI_TOO_FAR where no row that can be read covers the pc, too
 */
enum sfb_cfi_how sfb_cfi_how_at(const struct sfb_eh_frame *eh, uint64_t pc, unsigned column);

/*
 * sfb_eh_frame_find() with a budget.
 *
 * @param work  bytes of CFI instructions that may be run; those of the entry are taken from it
 *
 * @return as there; SFB_WORK_LIMIT: the entry has more, work is 0 now
 */
enum sfb_status sfb_eh_frame_find_within(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *work,
                                         struct sfb_rule *out, struct sfb_error *error);

#endif
