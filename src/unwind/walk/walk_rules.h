/*
 * Rules by pc for one walk. For modules without a build-id: their rules must not be kept beyond the
 * walk. Deep recursion in such a module reads its tables once, not once a frame.
 */
#ifndef SFB_UNWIND_WALK_WALK_RULES_H
#define SFB_UNWIND_WALK_WALK_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/rule.h"

/*
 * @param walk  sfb_walker_name()
 * @param key   as in the rule cache
 * @param out   written if this walk has put a rule there, and no other walk has used its slot since
 *
 * Threads, signals: safe, wait-free.
 */
bool sfb_walk_rules_get(uint64_t walk, uint64_t key, struct sfb_rule *out);

/* Keeps a rule for this walk, unless it does not fit a word, as few do. */
void sfb_walk_rules_put(uint64_t walk, uint64_t key, const struct sfb_rule *rule);

#endif
