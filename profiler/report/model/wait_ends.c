#include "profiler/report/model/wait_ends.h"

#include <stdlib.h>

#include "util/index.h"

/* The part of a wait that was found first, from behind. */
struct part {
    uint32_t last;
    uint64_t time;
};

struct parts {
    struct report_index index; /* by thread and `since` */
    REPORT_ARRAY(struct part) all;
};

/* @return false: no memory */
static bool find_end(struct parts *parts, const struct report_data *data, uint32_t number,
                     uint32_t *out)
{
    const struct report_wait *w = &data->waits.at[number];
    struct part *part;
    uint32_t at;
    bool found;

    *out = number;
    if (w->since == 0)
        return true;
    if (!report_index_find(&parts->index, w->thread, w->since, (uint32_t)parts->all.count, &at,
                           &found))
        return false;
    part = found ? &parts->all.at[at] : REPORT_NEXT(parts->all);
    if (!part)
        return false;
    /* In a merged recording, two waits of one thread may have begun at one time: they are no parts of each other. */
    if (found && w->time < part->time && !report_wait_has_waker(data, w))
        *out = part->last;
    *part = (struct part){ .last = *out, .time = w->time };
    return true;
}

/* From behind: the last part of a wait comes first then. Parts of other threads may stand in between. */
uint32_t *report_wait_ends(const struct report_data *data)
{
    uint32_t *ends = malloc((data->waits.count + 1) * sizeof *ends);
    struct parts parts = { .all = { .count = 0 } };
    bool good = ends != NULL;

    for (size_t i = data->waits.count; good && i-- > 0;)
        good = find_end(&parts, data, (uint32_t)i, &ends[i]);
    report_index_free(&parts.index);
    free(parts.all.at);
    if (good)
        return ends;
    free(ends);
    return NULL;
}
