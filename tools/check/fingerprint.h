/*
 * What a finding is known by from build to build: its code, the name of its file without the folder,
 * its place in a function or section, and what the tables say there.
 */
#ifndef CHECK_FINGERPRINT_H
#define CHECK_FINGERPRINT_H

#include "findings.h"
#include "object/object.h"

/* @param object  NULL: a bare section */
uint64_t finding_fingerprint(const struct finding *finding, const char *name,
                             const struct object *object);

#endif
