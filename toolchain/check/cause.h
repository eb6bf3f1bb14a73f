/*
 * One fault that explains most findings: read in another way than its header says, the section is
 * sound.
 */
#ifndef TOOLCHAIN_CHECK_CAUSE_H
#define TOOLCHAIN_CHECK_CAUSE_H

#include "toolchain/check/check.h"

struct cause {
    enum check_code code;
    struct check_reading reading;
    struct check_share before, now; /* functions, and how many start at a known function */
    const char *by;                 /* the source of the known starts */
    char how[192];                  /* the reading, in words */
    const char *tool;               /* what makes such sections */
};

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
