/* What tells a row of .sframe from one of .eh_frame. */
#ifndef CHECK_DIFFERENCE_H
#define CHECK_DIFFERENCE_H

#include "cfi.h"
#include "version.h"

/* @return the first code that tells them apart; 0: they are the same */
unsigned rule_difference(const struct sfb_rule *rule, const struct cfi_row *row);

/* @return why no row of a version says what .eh_frame says; NULL: one can */
const char *rule_inexpressible(const struct sframe_version *version, uint8_t abi,
                               const struct cfi_row *row);

#endif
