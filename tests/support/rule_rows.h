/* A rule of ours, computed as libdw_rows.h computes a row of libdw's. */
#ifndef SUPPORT_RULE_ROWS_H
#define SUPPORT_RULE_ROWS_H

#include "sfb/rule.h"
#include "support/libdw_rows.h"

struct row rule_row(const struct sfb_rule *rule, struct registers known);

bool said_equal(struct said a, struct said b);

/* Whether a return address is still in its column. */
bool is_unmoved(struct said ra, unsigned column);

#endif
