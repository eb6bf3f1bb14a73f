/* Compares a row of .sframe with one of .eh_frame. */
#ifndef TOOLCHAIN_CHECK_DIFFERENCE_H
#define TOOLCHAIN_CHECK_DIFFERENCE_H

#include "toolchain/check/cfi.h"
#include "toolchain/check/version.h"

/* @return the code of the first difference; 0: equal */
unsigned rule_difference(const struct sfb_rule *rule, const struct cfi_row *row);

/* @return why no row of the version states the rule; NULL: one can */
const char *rule_inexpressible(const struct sframe_version *version, uint8_t abi,
                               const struct cfi_row *row);

#endif
