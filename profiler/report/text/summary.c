#include "profiler/report/text/summary.h"

#include <inttypes.h>
#include <string.h>

#include "profiler/report/model/parts.h"
#include "profiler/report/text/advice.h"
#include "profiler/report/text/columns.h"
#include "profiler/report/text/heap_missing.h"
#include "profiler/report/text/heap_summary.h"
#include "profiler/report/text/losses.h"
#include "profiler/report/text/nameless.h"
#include "profiler/report/text/start.h"
#include "profiler/report/text/tally.h"
#include "util/counted.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* A thread has a timer until its event of perf is there, or for good. */
static void write_engines(FILE *to, const struct report_model *model, enum report_detail detail)
{
    for (uint32_t engine = SFB_ENGINE_PERF; engine <= SFB_ENGINE_LOOKS; engine++)
        if (report_detail_has(detail, model->by_other[engine], model->totals[0]))
            fprintf(to, "  %" PRIu64 " of %s by %s\n", model->by_other[engine],
                    counted(model->totals[0], "samples").text, sfb_recording_engine_str(engine));
}

/* Why stacks are cut off, most often first. */
static void write_truncated(FILE *to, const struct report_model *model)
{
    uint64_t left[256];
    const char *part = ": ";

    memcpy(left, model->by_end, sizeof left);
    left[SFB_END] = left[SFB_OK] = 0;
    fprintf(to, "  %" PRIu64 " of %s %s cut off (%.2f %%)", model->truncated,
            counted(model->totals[0], "stacks").text, model->truncated == 1 ? "is" : "are",
            100.0 * (double)model->truncated / (double)model->totals[0]);
    for (;;) {
        size_t most = 0;

        for (size_t i = 1; i < 256; i++)
            if (left[i] > left[most])
                most = i;
        if (left[most] == 0)
            break;
        fprintf(to, "%s%s %" PRIu64, part, sfb_status_str((enum sfb_status)most), left[most]);
        left[most] = 0;
        part = ", ";
    }
    fputc('\n', to);
}

static void write_time(FILE *to, const struct report_model *model)
{
    const uint64_t old = report_group_all(model, 0).value, new = report_group_all(model, 1).value;
    const double change = seconds(new) - seconds(old);

    if (report_model_compares(model)) {
        fprintf(to, "  CPU time %.3f s, was %.3f s: %+.3f s", seconds(new), seconds(old), change);
        if (old > 0)
            fprintf(to, " (%+.2f %%)", 100.0 * change / seconds(old));
        fputs(";", to);
    } else {
        fprintf(to, "  CPU time %.3f s", seconds(old));
    }
    report_members_write(to, model);
    fprintf(to, ": %s, %s\n", counted(model->totals[0], "samples").text,
            counted(model->stacks.count, "stacks").text);
}

static void write_unsampled(FILE *to, const struct report_model *model, uint64_t all)
{
    static const struct report_style plain = { .width = 0 };
    const struct report_unit *unit = report_unit_of(&plain, REPORT_TIME, model->unsampled);

    fprintf(to, "  %.*f %s of it were never sampled (%.2f %%)\n", unit->decimals,
            report_in_unit(unit, model->unsampled), unit->name,
            report_share(model->unsampled, all));
}

bool report_missing_write(FILE *to, const struct report_model *model, enum report_detail detail)
{
    const uint64_t all = model->totals[model->main] + model->unsampled;
    const bool calm = detail == REPORT_DETAIL_CALM;

    if (model->heap)
        return report_heap_missing_write(to, model, detail);
    if (report_detail_has(detail, model->unsampled, all)) {
        write_unsampled(to, model, all);
        if (calm)
            report_advice_unsampled(to, model);
    }
    if (report_detail_has(detail, model->truncated, model->totals[0])) {
        write_truncated(to, model);
        if (calm)
            report_advice_truncated(to, model);
    }
    return report_nameless_write(to, model, all, detail);
}

bool report_summary_write(FILE *to, const struct report_model *model, enum report_detail detail)
{
    bool good;

    if (model->heap) {
        report_heap_summary_write(to, model);
    } else {
        report_starts_write(to, model);
        report_choice_write(to, &model->choice);
        write_engines(to, model, detail);
        write_time(to, model);
    }
    good = report_missing_write(to, model, detail) && report_all_losses_write(to, model, detail);
    report_unfinished_write(to, model);
    return good;
}
