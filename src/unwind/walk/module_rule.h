/* What a module's own tables say of a pc, whichever of them has it. */
#ifndef SFB_UNWIND_WALK_MODULE_RULE_H
#define SFB_UNWIND_WALK_MODULE_RULE_H

#include "sfb/walk.h"

/*
 * Asks the tables of a module, .sframe first, for a pc.
 *
 * @param start  where the pc's function begins
 * @return SFB_OK; else what .eh_frame said: SFB_NO_CFI, SFB_NO_EH_FRAME if it has nothing at all
 */
enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start);

#endif
