/* The inside of a recording from outside. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_STATE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_STATE_H

#include "profiler/collector/outside/kernel_names.h"
#include "profiler/collector/outside/outside_options.h"
#include "profiler/collector/outside/outside_tasks.h"
#include "util/strings.h"

enum { OUTSIDE_CBF = 64 << 10 }; /* bytes of one stack: 7,000 frames at least */

/* From a time on, up to another one: CLOCK_MONOTONIC. */
struct outside_stretch {
    uint64_t from, to;
};

struct outside {
    struct outside_options how;
    struct outside_tasks tasks;
    struct outside_totals totals;
    struct kernel_names *kernel; /* NULL: not wanted, or no memory */
    struct sfb_recorder_ids own_ids, *ids;
    uint8_t *cbf;
    uint8_t *map; /* of modules */
    size_t map_room;
    struct report_strings codes;        /* functions of interpreters, by process, name and file */
    size_t code_bytes;                  /* of them */
    bool codes_full;                    /* one found no room */
    struct report_strings awaited;      /* by process, kind, address and name */
    REPORT_ARRAY(uint32_t) awaited_ids; /* of each of them */
    bool failed;
    bool paused;                                    /* now: outside_pause.h */
    REPORT_ARRAY(struct outside_stretch) stretches; /* that it was paused in, in their order */
};

#endif
