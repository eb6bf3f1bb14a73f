/* The caller's choice: codes, their severities, and accepted findings. */
#ifndef TOOLCHAIN_CHECK_POLICY_H
#define TOOLCHAIN_CHECK_POLICY_H

#include "toolchain/check/baseline.h"
#include "toolchain/check/codes.h"

enum policy_action { POLICY_AS_IT_IS, POLICY_NOTE, POLICY_WARNING, POLICY_ERROR, POLICY_IGNORE };

enum { POLICY_CODES_MAX = 256 };

struct check_policy {
    uint8_t action[POLICY_CODES_MAX]; /* enum policy_action, in the order of check_codes */
    bool allow_known;                 /* known faults of a release do not fail the check */
    bool require;                     /* a file with code needs an .sframe */
    bool min_functions_set, min_bytes_set;
    uint32_t min_functions, min_bytes; /* required coverage, in hundredths of a percent */
    struct baseline baseline;          /* findings to pass over */
    FILE *baseline_to;                 /* receives errors and warnings; NULL: unused */
};

/*
 * Sets the action for codes.
 *
 * @param list  "SF0501,SF02": codes and prefixes of codes
 * @return NULL, or the first word of the list that is no code (borrowed, up to the comma)
 */
const char *policy_set(struct check_policy *policy, const char *list, enum policy_action action);

/* Ignores all codes but these and SF06, which the caller asks for. */
const char *policy_only(struct check_policy *policy, const char *list);

/* "functions=99.5" or "bytes=100". @return false: malformed */
bool policy_min_coverage(struct check_policy *policy, const char *text);

/* @return false: ignored. *severity: the caller's, or the code's own */
bool policy_severity(enum check_severity *severity, const struct check_policy *policy,
                     size_t index);

#endif
