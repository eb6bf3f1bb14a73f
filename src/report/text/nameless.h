/* Modules with functions that have no name. */
#ifndef REPORT_NAMELESS_H
#define REPORT_NAMELESS_H

#include <stdio.h>

#include "report/model.h"
#include "report/text/detail.h"

/*
 * Writes a line of them, by the CPU time of such functions themselves; nothing if all that took time have names.
 *
 * @param all  what 100 % is
 * @return false: no memory
 */
bool report_nameless_write(FILE *to, const struct report_model *model, uint64_t all,
                           enum report_detail detail);

#endif
