#include "profiler/collector/outside/perf_weight.h"

#include <stdlib.h>

uint64_t perf_weight_of(struct perf_weights *w, const struct perf_sample *s, uint64_t period,
                        bool kernel)
{
    uint64_t grown, *last;
    uint32_t at;
    bool known;

    if (!report_index_find(&w->streams, s->ids.stream, 0, (uint32_t)w->counts.count, &at, &known) ||
        (!known && !REPORT_NEXT(w->counts)) || at >= w->counts.count)
        return period;
    last = &w->counts.at[at];
    grown = s->count > *last ? s->count - *last : 0;
    *last = s->count;
    return grown > 2 * period && !kernel ? period : grown;
}

void perf_weights_free(struct perf_weights *w)
{
    report_index_free(&w->streams);
    free(w->counts.at);
}
