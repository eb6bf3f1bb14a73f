/* What a recorded heap may be: `sfb record --heap --fail-above N --fail-on-leak`, for tests that run by themselves. */
#ifndef CLI_RECORD_LIMITS_H
#define CLI_RECORD_LIMITS_H

#include "cli/record/parts.h"

/* Reads the suppressions of leaks, before the program starts. @return false after a complaint */
bool record_limits_read(const struct record_request *request);

/*
 * Judges what was recorded, and says in a line each which limit it exceeds.
 *
 * @param pid  of the program: only its own leaks count, if it has exited
 * @return whether it is within the limits
 */
bool record_limits_judge(const struct record_request *request, const struct record_outcome *outcome,
                         pid_t pid);

#endif
