/* Causes of waits (struct report_causes) from a recording: what make_locks.c and make_wakers.c have in common. */
#ifndef PROFILER_REPORT_MODEL_MAKE_CAUSES_H
#define PROFILER_REPORT_MODEL_MAKE_CAUSES_H

#include "profiler/report/model/maker.h"

/* Begins with the maker's recording. @return false: no memory */
bool report_causes_begin(struct report_maker *maker);

/* Frees what is of that recording alone. */
void report_causes_end(struct report_maker *maker);

/* Causes of one kind: where they are made, and by what. */
struct report_causes_maker {
    struct report_maker *maker;
    struct report_causes *causes;
    struct report_maker_causes *own;
};

struct report_causes_maker report_locks_of(struct report_maker *maker);
struct report_causes_maker report_wakers_of(struct report_maker *maker);

/*
 * Adds a wait, or a part of one, to its cause.
 *
 * @param thread  name is of a thread: others of that name are another cause
 * @param weight  the wanted part of it
 * @param out     index of the cause
 * @return false: no memory
 */
bool report_cause_add(const struct report_causes_maker *to, const char *name, bool thread,
                      const struct report_wait *wait, uint64_t weight, uint32_t *out);

/* Adds time to a part, or a share, that has the same members but for `total`. @return false: no memory */
bool report_cause_part_add(const struct report_causes_maker *to,
                           const struct report_cause_part *part);
bool report_cause_share_add(const struct report_causes_maker *to,
                            const struct report_cause_share *share);

#endif
