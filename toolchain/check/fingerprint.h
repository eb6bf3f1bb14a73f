/*
 * Identifies a finding from build to build: code, base name of the file, place in a function or
 * section, and the rules of both tables.
 */
#ifndef TOOLCHAIN_CHECK_FINGERPRINT_H
#define TOOLCHAIN_CHECK_FINGERPRINT_H

#include "symbols/object.h"
#include "toolchain/check/finding.h"

/* @param object  NULL: a bare section */
uint64_t finding_fingerprint(const struct finding *finding, const char *name,
                             const struct object *object);

#endif
