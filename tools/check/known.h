/* Faults that releases of binutils are known for, so that a gate can tell them from new ones. */
#ifndef CHECK_KNOWN_H
#define CHECK_KNOWN_H

#include "check.h"

/* @return which release writes it, and what it is; NULL: none that is known */
const char *known_fault(const struct check *c, const struct finding *finding);

#endif
