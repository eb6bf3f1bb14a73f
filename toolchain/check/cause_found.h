/* A cause: how the section must be read so that most findings are gone. */
#ifndef TOOLCHAIN_CHECK_CAUSE_FOUND_H
#define TOOLCHAIN_CHECK_CAUSE_FOUND_H

#include "toolchain/check/check.h"

struct cause {
    enum check_code code;
    struct check_reading reading;
    struct check_share before, now; /* functions, and how many start at a known function */
    const char *by;                 /* the source of the known starts */
    char how[192];                  /* the reading, in words */
    const char *tool;               /* what makes such sections */
    uint64_t looks;                 /* entries and functions that rules were shown */
};

#endif
