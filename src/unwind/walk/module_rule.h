/* The rule of a module's own tables for a pc. */
#ifndef SFB_UNWIND_WALK_MODULE_RULE_H
#define SFB_UNWIND_WALK_MODULE_RULE_H

#include "sfb/walk.h"

/*
 * Looks up a pc in the tables of a module, .sframe first.
 *
 * @param start  written on SFB_OK: start of the pc's function
 * @return SFB_OK; else the status of .eh_frame: SFB_NO_CFI, or SFB_NO_EH_FRAME if the module lacks it
 */
enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start);

/*
 * Finds the start of a pc's function by the tables of a module, .sframe first.
 *
 * @return SFB_OK; else the status of .eh_frame, as sfb_module_rule()
 */
enum sfb_status sfb_module_function(const struct sfb_module *module, uint64_t pc, uint64_t *start);

#endif
