/*
 * Rows of flexible functions, "3.2 Flexible FDE Type Interpretation" of version 3: a pair of words
 * each for CFA, RA and FP. They may name any register, and state that a word has to be loaded.
 */
#ifndef SFB_SFRAME_FLEXIBLE_H
#define SFB_SFRAME_FLEXIBLE_H

#include "sfb/section.h"

/*
 * Gives the rule of such a row.
 *
 * @return SFB_OK; SFB_BAD_FRE: the words are not pairs, or make no valid rule
 */
enum sfb_status sfb_flexible_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                                  const struct sfb_fre *fre, struct sfb_rule *out,
                                  struct sfb_error *error);

#endif
