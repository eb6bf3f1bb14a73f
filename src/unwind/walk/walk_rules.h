/*
 * Rules by pc for one walk: of modules of which nothing may be remembered beyond it, because they
 * have no build-id. Deep recursion in such a module asks its tables once, not once a frame.
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

/* Keeps a rule for this walk, unless it is one of the few that do not fit a word. */
void sfb_walk_rules_put(uint64_t walk, uint64_t key, const struct sfb_rule *rule);

#endif
