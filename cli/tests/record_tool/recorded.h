/* Runs `sfb record`, and reads what it wrote. */
#ifndef RECORD_TOOL_RECORDED_H
#define RECORD_TOOL_RECORDED_H

#include "cli/tests/record_tool/contents.h"
#include "support/run.h"

struct recorded {
    struct run run;
    struct contents *contents;
};

/*
 * Runs "sfb record -f -o FILE OPTIONS AND PROGRAM" in the folder of the test; $P in it is the tests' program. A recording
 * that cannot be read fails the test.
 *
 * @param before  what stands before sfb, as in "unshare -m"; ""
 */
struct recorded recorded_by(const char *before, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define recorded(...) recorded_by("", __VA_ARGS__)

void recorded_free(struct recorded *recorded);

/* CPU time that a recording accounts for: weights, rests, and what is named unsampled. */
uint64_t recorded_cpu(const struct contents *contents);

#endif
