/* A finding about a pc. Its text begins with the pc: "at 0x1234 (main+0x4)". */
#ifndef TOOLCHAIN_CHECK_SAY_H
#define TOOLCHAIN_CHECK_SAY_H

#include "toolchain/check/check.h"

/* Neither table has a rule. */
static const struct finding_rules no_rules = { NULL, NULL };

/* Adds it; `format` is the text behind the pc. */
void say_at(struct check *c, enum check_code code, struct finding_place place, uint64_t pc,
            struct finding_rules rules, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
