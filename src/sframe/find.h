/* sfb_section_find() for who has a budget. */
#ifndef SFB_SFRAME_FIND_H
#define SFB_SFRAME_FIND_H

#include "sfb/section.h"

/*
 * @param work  rows that may be looked at; those of the function are taken from it
 *
 * @return as sfb_section_find(); SFB_WORK_LIMIT: the function has more rows, work is 0 now
 *
 * Threads, signals: safe.
 */
enum sfb_status sfb_section_find_within(const struct sfb_section *section, uint64_t pc,
                                        uint32_t *work, struct sfb_rule *out,
                                        struct sfb_error *error);

#endif
