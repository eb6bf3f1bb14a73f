/* Known faults of binutils releases: a gate must tell them from new ones. */
#ifndef TOOLCHAIN_CHECK_KNOWN_H
#define TOOLCHAIN_CHECK_KNOWN_H

#include "toolchain/check/check.h"

/* @return release and fault, as text; NULL: not known */
const char *known_fault(const struct check *c, const struct finding *finding);

/* Whether some fault with this code is known: others with it are new. */
bool known_has_code(enum check_code code);

#endif
