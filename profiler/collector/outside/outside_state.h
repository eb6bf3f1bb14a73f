/* The inside of a recording from outside. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_STATE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_STATE_H

#include "profiler/collector/outside/kernel_names.h"
#include "profiler/collector/outside/outside_options.h"
#include "profiler/collector/outside/outside_tasks.h"

enum { OUTSIDE_CBF = 64 << 10 }; /* bytes of one stack: 7,000 frames at least */

struct outside {
    struct outside_options how;
    struct outside_tasks tasks;
    struct outside_totals totals;
    struct kernel_names *kernel; /* NULL: not wanted, or no memory */
    uint32_t next_process, next_thread;
    uint8_t *cbf;
    uint8_t *map; /* of modules */
    size_t map_room;
    bool failed;
};

#endif
