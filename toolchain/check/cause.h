/*
 * One fault that explains most findings: read in another way than its header says, the section is
 * sound.
 */
#ifndef TOOLCHAIN_CHECK_CAUSE_H
#define TOOLCHAIN_CHECK_CAUSE_H

#include "toolchain/check/cause_found.h"

/*
 * Looks for a cause of findings: another reading, if most functions start at no function of .eh_frame or
 * the symbols; else a repair that removes most of them (cause_hunt.h).
 *
 * @param c  before any level has run; unchanged
 * @return false: no known cause
 */
bool cause_find(struct cause *out, const struct check *c);

/* Adds the finding. @param explained  findings that the other reading removes */
void cause_say(struct check *c, const struct cause *cause, uint64_t explained);

#endif
