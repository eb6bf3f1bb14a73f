/* What threads waited for, by name, and locks: which threads had them. */
#ifndef PROFILER_REPORT_MODEL_MAKE_LOCKS_H
#define PROFILER_REPORT_MODEL_MAKE_LOCKS_H

#include "profiler/report/model/maker.h"

/* Begins with the maker's recording, after report_causes_begin(). @return false: no memory */
bool report_locks_begin(struct report_maker *maker);

/* Frees what is of that recording alone. */
void report_locks_end(struct report_maker *maker);

/*
 * What a thread waited for: "tcp 127.0.0.1:5432", "lock (server)", "0x7f12 ([heap]+0x12)".
 *
 * @param out  written, good until report_locks_end(); "": not known
 * @return false: no memory
 */
bool report_awaited_name(struct report_maker *maker, const struct report_wait *wait,
                         const char **out);

/* Adds a wait to its lock, if it is for one. @param weight  the wanted part. @return false: no memory */
bool report_lock_add(struct report_maker *maker, const struct report_wait *wait, const char *name,
                     uint64_t weight);

#endif
