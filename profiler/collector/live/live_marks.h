/* Marks of a live table: `sfb ctl PID mark NAME`. A mark begins an era, and each block has the era of its allocation. */
#ifndef PROFILER_COLLECTOR_LIVE_LIVE_MARKS_H
#define PROFILER_COLLECTOR_LIVE_LIVE_MARKS_H

#include <stdint.h>

#include "profiler/collector/live/live_map.h"

#define LIVE_ERAS_ALL UINT32_MAX

struct live_mark {
    uint32_t era;
    uint64_t time;                /* CLOCK_MONOTONIC ns */
    char name[SFB_LIVE_NAME + 1]; /* "": the table's own beginning */
};

/* Lists the marks by time; the first is the table's own beginning. @return their number */
uint32_t live_marks_of(const struct sfb_live *head, struct live_mark out[SFB_LIVE_ERAS]);

/*
 * Finds the eras between two marks, as live_map.eras has them.
 *
 * @param since, until  NULL: from the beginning, to the end
 * @param unknown       written on failure: the name that is no mark's
 * @return false: no such mark
 */
bool live_marks_between(const struct sfb_live *head, const char *since, const char *until,
                        uint32_t *eras, const char **unknown);

/*
 * Adds a mark to a table that is mapped. If all eras are in use, the oldest one without live blocks is given up, and its
 * mark with it.
 *
 * @param name  1 to SFB_LIVE_NAME bytes
 * @param now   CLOCK_MONOTONIC ns
 * @return NULL, or the reason of a failure
 */
const char *live_mark_add(struct live_map *map, const char *name, uint64_t now);

#endif
