/*
 * What the caller of a check wants to hear of, and how grave it is to them: by code, and by findings
 * that they know already.
 */
#ifndef CHECK_POLICY_H
#define CHECK_POLICY_H

#include "baseline.h"
#include "codes.h"

enum policy_action { POLICY_AS_IT_IS, POLICY_NOTE, POLICY_WARNING, POLICY_ERROR, POLICY_IGNORE };

enum { POLICY_CODES_MAX = 256 };

struct check_policy {
    uint8_t action[POLICY_CODES_MAX]; /* enum policy_action, in the order of check_codes */
    bool allow_known;                 /* faults that a release is known for are no failure */
    bool require;                     /* a file with code needs an .sframe */
    bool min_functions_set, min_bytes_set;
    uint32_t min_functions, min_bytes; /* hundredths of a percent that rows have to cover */
    struct baseline baseline;          /* findings that are passed over */
    FILE *baseline_to;                 /* errors and warnings are written down there; NULL: not */
};

/*
 * Sets what happens to codes.
 *
 * @param list  "SF0501,SF02": codes, and beginnings of codes, which mean all of them
 * @return NULL, or the first word of the list that is no code (borrowed, up to the comma)
 */
const char *policy_set(struct check_policy *policy, const char *list, enum policy_action action);

/* Ignores all codes but these, and those by which the caller asks for something (SF06). */
const char *policy_only(struct check_policy *policy, const char *list);

/* "functions=99.5" or "bytes=100". @return whether it is one */
bool policy_min_coverage(struct check_policy *policy, const char *text);

/* @return whether a code is heard of; then *severity is what it is to the caller */
bool policy_severity(enum check_severity *severity, const struct check_policy *policy,
                     size_t index);

#endif
