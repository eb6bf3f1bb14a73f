/* A finding about a pc, which its text begins with: "at 0x1234 (main+0x4)". */
#ifndef CHECK_SAY_H
#define CHECK_SAY_H

#include "check.h"

/* Neither table says anything. */
static const struct finding_rules no_rules = { NULL, NULL };

/* Adds it; `format` says what stands behind the name of the pc. */
void say_at(struct check *c, enum check_code code, struct finding_place place, uint64_t pc,
            struct finding_rules rules, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
