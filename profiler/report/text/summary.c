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
#include "profiler/report/text/ways.h"
#include "util/counted.h"
#include "util/foreign.h"

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

/* A trace has no times. */
static void write_calls(FILE *to, const struct report_model *model)
{
    const uint64_t old = report_group_all(model, 0).value, new = report_group_all(model, 1).value;

    if (report_model_compares(model))
        fprintf(to, "  %" PRIu64 " calls, were %" PRIu64 ";", new, old);
    else
        fprintf(to, "  %s", counted(old, "calls").text);
    report_members_write(to, model);
    fprintf(to, ": %s\n", counted(model->stacks.count, "stacks").text);
}

static void write_time(FILE *to, const struct report_model *model)
{
    const uint64_t old = report_group_all(model, 0).value, new = report_group_all(model, 1).value;
    const enum report_time_value value = model->choice.time_value;
    const double change = seconds(new) - seconds(old);

    if (report_model_compares(model)) {
        fprintf(to, "  %s %.3f s, was %.3f s: %+.3f s", report_time_value_name(value), seconds(new),
                seconds(old), change);
        if (old > 0)
            fprintf(to, " (%+.2f %%)", 100.0 * change / seconds(old));
        fputs(";", to);
    } else {
        fprintf(to, "  %s %.3f s", report_time_value_name(value), seconds(old));
    }
    report_members_write(to, model);
    fprintf(to, ": %s, %s\n", counted(model->totals[0], "samples").text,
            counted(model->stacks.count, "stacks").text);
}

/* @return the function that called into the C library; "": no function has a name */
static const char *caller_of(const struct report_model *model, uint32_t stack)
{
    struct report_steps steps = report_steps_of(model, stack);
    struct report_step step;

    report_steps_next(&steps, &step); /* what it waits in */
    while (report_steps_next(&steps, &step)) {
        const struct report_function *f =
            step.line ? &model->functions.at[step.line->function] : NULL;
        const char *module = f ? report_text(model, model->modules.at[f->module].name) : "";

        if (f && f->known && strncmp(module, "libc.so", 7) != 0 &&
            strncmp(module, "libc-", 5) != 0 && strncmp(module, "libpthread", 10) != 0)
            return report_text(model, f->name);
    }
    return "";
}

/* Some of several recordings have waits: what is shown is as of the first one. */
static void write_mixture(FILE *to, const struct report_model *model)
{
    const bool cpu = model->choice.time_value == REPORT_TIME_CPU;
    size_t have = 0;

    for (size_t i = 0; i < model->source_count; i++)
        have += model->sources[i].data->wait_count > 0;
    if (have == 0 || have == model->source_count)
        return;
    if (cpu)
        fprintf(to, "  not in it: the waits of %zu of %s\n", have,
                counted(model->source_count, "recordings").text);
    else
        fprintf(to, "  without waits: %zu of %s, whose CPU time alone is known\n",
                model->source_count - have, counted(model->source_count, "recordings").text);
}

/* Threads of pools that do nothing are no part of the figures. */
static void write_idle(FILE *to, const struct report_model *model)
{
    for (size_t i = 0; i < model->idle.count; i++) {
        const struct report_idle *idle = &model->idle.at[i];
        const char *caller = caller_of(model, idle->stack);

        fprintf(to, "  not in it: %s ", counted(idle->threads, "idle threads").text);
        foreign_print(to, idle->name);
        fprintf(to, ", %.3f s ", seconds(idle->weight));
        foreign_print(to, report_waits_in(model, idle->stack));
        if (caller[0]) {
            fputs(" for ", to);
            foreign_print(to, caller);
        }
        fputc('\n', to);
    }
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
        if (!report_ways_write(to, model, detail))
            return false;
        if (model->choice.time_value == REPORT_TIME_CALLS)
            write_calls(to, model);
        else
            write_time(to, model);
        write_mixture(to, model);
        write_idle(to, model);
    }
    good = report_missing_write(to, model, detail) && report_all_losses_write(to, model, detail);
    report_unfinished_write(to, model);
    return good;
}
