/* Where recordings stand on the page's time line. */
#include <stdlib.h>
#include <string.h>

#include "profiler/report/page/html_runs.h"
#include "support/test.h"

enum { RUNS = 4 };

static const uint64_t second = 1000000000, day = 86400000000000;

/* Of runs of one second, when they began; 0: a recording without a clock. */
static void expect_begins(const uint64_t *clocks, const uint32_t *groups, const uint64_t *want)
{
    static struct report_data data[RUNS];
    struct report_source sources[RUNS];
    const struct report_model model = { .sources = sources, .source_count = RUNS };
    uint64_t *got;

    for (size_t i = 0; i < RUNS; i++) {
        memset(&data[i], 0, sizeof data[i]);
        data[i].start.monotonic = 5 * second;
        data[i].start.realtime = clocks[i];
        data[i].finish.time = 6 * second;
        data[i].finish.reason = "";
        sources[i] = (struct report_source){ .data = &data[i], .group = groups[i] };
    }
    got = html_runs_begin(&model);
    cr_assert(got != NULL);
    for (size_t i = 0; i < RUNS; i++)
        cr_expect(eq(u64, got[i], want[i]), "recording %zu", i);
    free(got);
}

Test(page_runs, are_apart_by_the_clock)
{
    static const uint32_t one[RUNS] = { 0 }, two[RUNS] = { 0, 1, 0, 1 };
    const uint64_t now = 20000 * day;

    /* Two side by side, one half a second behind their end, the first one given last. */
    expect_begins((uint64_t[]){ now + 2 * second, now + second / 4, now + 5 * second / 2, now },
                  one, (uint64_t[]){ 2 * second, second / 4, 5 * second / 2, 0 });
    /* Days between runs are the mean run. */
    expect_begins((uint64_t[]){ now, now + day, now + 3 * day, now + 3 * day + second }, one,
                  (uint64_t[]){ 0, 2 * second, 4 * second, 5 * second });
    /* Old and new ones begin together. */
    expect_begins((uint64_t[]){ now, now + day, now + 3 * second / 2, now + day + second }, two,
                  (uint64_t[]){ 0, 0, 3 * second / 2, second });
    expect_begins((uint64_t[]){ 0, now, 0, UINT64_MAX }, one, (uint64_t[]){ 0, 0, 0, 2 * second });
}
