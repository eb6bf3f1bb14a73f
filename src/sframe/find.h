/* sfb_section_find() with a budget. */
#ifndef SFB_SFRAME_FIND_H
#define SFB_SFRAME_FIND_H

#include "sfb/section.h"

/*
 * @param work  budget in rows; the function's rows are subtracted
 *
 * @return as sfb_section_find(); SFB_WORK_LIMIT: the function has more rows, work is now 0
 *
 * Threads, signals: safe.
 */
enum sfb_status sfb_section_find_within(const struct sfb_section *section, uint64_t pc,
                                        uint32_t *work, struct sfb_rule *out,
                                        struct sfb_error *error);

#endif
