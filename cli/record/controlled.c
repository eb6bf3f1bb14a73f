#include "cli/record/controlled.h"

#include <stddef.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"

enum { ANCESTORS = 64, PROCESSES = 1024 };

bool record_controls(pid_t recorded, pid_t asked)
{
    for (unsigned i = 0; i < ANCESTORS && asked > 1; i++) {
        if (asked == getpid() || asked == recorded)
            return true;
        asked = sfb_recorder_task_parent(asked);
    }
    return false;
}

uint64_t record_used_by_tree(pid_t root, bool itself)
{
    static pid_t all[PROCESSES];
    size_t count = 1;
    uint64_t sum = 0, one;

    all[0] = root;
    for (size_t i = 0; i < count; i++) {
        if ((i > 0 || itself) && sfb_recorder_process_waited_cpu(all[i], &one))
            sum += one;
        count += sfb_recorder_children_of(all[i], all + count, PROCESSES - count);
    }
    return sum;
}

void record_pauses_set(struct record_pauses *p, bool paused, uint64_t used)
{
    if (p->paused && used > p->begun)
        p->used += used - p->begun;
    p->begun = used;
    p->ran |= !p->paused || !paused;
    p->paused = paused;
}

uint64_t record_pauses_end(struct record_pauses *p, uint64_t used)
{
    static const uint64_t ticks_ns = 50000000;

    record_pauses_set(p, p->paused, used);
    return p->used > 0 ? p->used + ticks_ns : 0;
}
