/* Which rules a row of an SFrame section can state, and why not. */
#ifndef TOOLCHAIN_SYNTH_SFRAME_EXPRESSIBLE_H
#define TOOLCHAIN_SYNTH_SFRAME_EXPRESSIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include <sfb/abi.h>
#include <sfb/rule.h>

/*
 * Says why no row of versions 1 and 2 states a rule: they have offsets from the CFA, which is sp or
 * fp plus an offset.
 *
 * @return NULL: expressible
 */
const char *synth_inexpressible(enum sfb_abi abi, const struct sfb_rule *rule);

/*
 * Says why no row of a version states a rule. Version 3 also names registers, loads words, and has
 * empty rows for outermost frames and functions of signal frames.
 *
 * @param version  1, 2 or 3
 * @return NULL: expressible
 */
const char *synth_inexpressible_in(unsigned version, enum sfb_abi abi, const struct sfb_rule *rule);

/* @return whether an expressible rule needs a flexible row of version 3 */
bool synth_is_flexible(enum sfb_abi abi, const struct sfb_rule *rule);

#endif
