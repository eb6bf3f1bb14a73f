/* DWARF expressions of CFI, evaluated as far as they can be without registers or memory. */
#ifndef SFB_EH_FRAME_EXPRESSION_H
#define SFB_EH_FRAME_EXPRESSION_H

#include "sfb/eh_frame.h"

/* Base of a term. */
enum sfb_term_base { SFB_TERM_NUMBER, SFB_TERM_REG, SFB_TERM_CFA };

/* base + inner, or the word at base + inner, + outer */
struct sfb_term {
    int64_t inner;
    int32_t outer;
    uint8_t base; /* enum sfb_term_base */
    uint8_t reg;
    bool deref;
};

/*
 * Evaluates the expression (a block with its length in front) at an offset.
 *
 * @param pc        of the frame: the only register of known value
 * @param with_cfa  the CFA is on the stack at first, as in rules for registers
 * @return SFB_OK; SFB_NOT_EXPRESSIBLE (more than a term); SFB_BAD_CFI
 */
enum sfb_status sfb_expression_term(struct sfb_term *out, const struct sfb_eh_frame *eh,
                                    uint32_t offset, uint64_t pc, bool with_cfa);

/* Tells whether a valid expression at an offset reads the pc. */
bool sfb_expression_reads_pc(const struct sfb_eh_frame *eh, uint32_t offset);

#endif
