/* Which rules a row of an SFrame section can state, and why not. */
#ifndef SFRAME_EXPRESSIBLE_H
#define SFRAME_EXPRESSIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include <sfb/abi.h>
#include <sfb/rule.h>

/*
 * Says why no row of versions 1 and 2 states a rule: offsets from the CFA, which is sp or fp and an
 * offset.
 *
 * @return NULL if one does
 */
const char *synth_inexpressible(enum sfb_abi abi, const struct sfb_rule *rule);

/*
 * Says why no row of a version states a rule. Those of version 3 name registers and load words, are
 * empty in an outermost frame, and their function may be a signal frame.
 *
 * @param version  1, 2 or 3
 * @return NULL if one does
 */
const char *synth_inexpressible_in(unsigned version, enum sfb_abi abi, const struct sfb_rule *rule);

/* @return whether a rule that version 3 states takes a flexible row */
bool synth_is_flexible(enum sfb_abi abi, const struct sfb_rule *rule);

#endif
