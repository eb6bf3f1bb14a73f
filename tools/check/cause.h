/*
 * One fault that explains most of what is found: the section is sound, if one thing of it is read in
 * another way than it says.
 */
#ifndef CHECK_CAUSE_H
#define CHECK_CAUSE_H

#include "check.h"

struct cause {
    enum check_code code;
    struct check_reading reading;
    struct check_share before, now; /* functions, and those that are where code begins */
    const char *by;                 /* what says where it begins */
};

/*
 * Looks for one where most functions begin at no function of .eh_frame, or of the symbols.
 *
 * @param c  with nothing read so far; unchanged
 * @return false: there is none, or it is not one that is known
 */
bool cause_find(struct cause *out, const struct check *c);

/* Adds the finding. @param explained  findings that are not there by the other reading */
void cause_say(struct check *c, const struct cause *cause, uint64_t explained);

#endif
