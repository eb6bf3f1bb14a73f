#include "report/text/summary.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "object/foreign.h"
#include "report/text/columns.h"
#include "report/text/losses.h"
#include "report/text/nameless.h"
#include "report/text/tally.h"

/* Recordings that are named. */
enum { STARTS_MAX = 8 };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* The words of a command, separated by '\0'. */
static void write_words(FILE *to, const char *words, size_t size)
{
    for (size_t i = 0; i < size; i += strlen(words + i) + 1) {
        if (i > 0)
            fputc(' ', to);
        foreign_print(to, words + i);
    }
    fputc('\n', to);
}

static void write_start(FILE *to, const struct report_data *data)
{
    const struct sfb_recording_start *start = &data->start;
    const time_t when = (time_t)(start->realtime / 1000000000U);
    char date[64] = "?";
    struct tm tm;

    if (!start->command) {
        fputs("  the beginning of the recording is missing\n", to);
        return;
    }
    if (localtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    write_words(to, start->command, start->command_size);
    fprintf(to, "  recorded %s, %.2f s, %" PRIu32 " Hz by %s", date,
            seconds(report_data_end(data) - start->monotonic), start->rate_hz,
            sfb_recording_engine_str(start->engine));
    if (start->engine_text[0]) {
        fputs(": ", to);
        foreign_print(to, start->engine_text);
    }
    fputc('\n', to);
}

/* How the program ended that was recorded first, exec or not, unless all went well. */
static void write_program_end(FILE *to, const struct report_data *data)
{
    const struct report_process *last = data->processes.at;

    for (size_t i = 1; i < data->processes.count; i++)
        if (data->processes.at[i].pid == last->pid)
            last = &data->processes.at[i];
    if (data->processes.count == 0 || !last->ended)
        return;
    if (last->end == SFB_PROCESS_KILLED)
        fprintf(to, "  it was ended by signal %" PRIu32 "\n", last->status);
    else if (last->end == SFB_PROCESS_EXITED && last->status != 0)
        fprintf(to, "  it exited with status %" PRIu32 "\n", last->status);
}

/* Why the recording ended, unless the program did. */
static void write_end(FILE *to, const struct report_data *data)
{
    write_program_end(to, data);
    if (!data->finish.reason || strcmp(data->finish.reason, "the program ended") == 0)
        return;
    fputs("  the recording ended: ", to);
    foreign_print(to, data->finish.reason);
    fputc('\n', to);
}

/* A thread has a timer until its event of perf is there, or for good. */
static void write_engines(FILE *to, const struct report_model *model)
{
    for (uint32_t engine = SFB_ENGINE_PERF; engine <= SFB_ENGINE_SAMPLER; engine++)
        if (model->by_other[engine] > 0)
            fprintf(to, "  %" PRIu64 " of %" PRIu64 " samples by %s\n", model->by_other[engine],
                    model->totals[0], sfb_recording_engine_str(engine));
}

/* Why stacks are cut off, most often first. */
static void write_truncated(FILE *to, const struct report_model *model)
{
    uint64_t left[256];
    const char *part = ": ";

    memcpy(left, model->by_end, sizeof left);
    left[SFB_END] = left[SFB_OK] = 0;
    fprintf(to, "  %" PRIu64 " of %" PRIu64 " stacks are cut off (%.2f %%)", model->truncated,
            model->totals[0], 100.0 * (double)model->truncated / (double)model->totals[0]);
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

static bool is_comparison(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].group > 0)
            return true;
    return false;
}

static void write_starts(FILE *to, const struct report_model *model)
{
    const bool comparison = is_comparison(model);

    for (size_t i = 0; i < model->source_count && i < STARTS_MAX; i++) {
        if (comparison)
            fputs(model->sources[i].group == 0 ? "old: " : "new: ", to);
        write_start(to, model->sources[i].data);
        write_end(to, model->sources[i].data);
    }
    if (model->source_count > STARTS_MAX)
        fprintf(to, "and %zu more recordings\n", model->source_count - STARTS_MAX);
}

/* Which part it is of. */
static void write_choice(FILE *to, const struct report_choice *c)
{
    const char *part = "  only ";

    if (c->process) {
        fprintf(to, "%sprocess ", part);
        foreign_print(to, c->process);
        part = ", ";
    }
    if (c->thread) {
        fprintf(to, "%sthread ", part);
        foreign_print(to, c->thread);
        part = ", ";
    }
    if (c->from > 0 || c->to > 0) {
        fprintf(to, "%sfrom %.3f s ", part, seconds(c->from));
        if (c->to > 0)
            fprintf(to, "to %.3f s", seconds(c->to));
        else
            fputs("on", to);
        part = ", ";
    }
    if (c->function)
        fprintf(to, "%sstacks with a function that --filter finds", part);
    if (c->process || c->thread || c->from > 0 || c->to > 0 || c->function)
        fputc('\n', to);
}

static void write_counts(FILE *to, const struct report_model *model)
{
    size_t processes = 0, threads = 0;

    for (size_t i = 0; i < model->members.count; i++)
        threads += model->members.at[i].wanted;
    for (size_t i = 0; i < model->source_count; i++)
        for (size_t k = 0; k < model->sources[i].data->processes.count; k++)
            processes +=
                report_choice_has_process(&model->choice, &model->sources[i].data->processes.at[k]);
    fprintf(to, " in %zu process%s and %zu thread%s: %" PRIu64 " samples, %zu stacks\n", processes,
            processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s", model->totals[0],
            model->stacks.count);
}

static void write_time(FILE *to, const struct report_model *model)
{
    const uint64_t old = report_group_all(model, 0).value, new = report_group_all(model, 1).value;
    const double change = seconds(new) - seconds(old);

    if (is_comparison(model)) {
        fprintf(to, "  CPU time %.3f s, was %.3f s: %+.3f s", seconds(new), seconds(old), change);
        if (old > 0)
            fprintf(to, " (%+.2f %%)", 100.0 * change / seconds(old));
        fputs(";", to);
    } else {
        fprintf(to, "  CPU time %.3f s", seconds(old));
    }
    write_counts(to, model);
}

static void write_unfinished(FILE *to, const struct report_model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->source_count; i++)
        count += !model->sources[i].data->health.finished;
    if (count > 0 && model->source_count == 1)
        fputs("  the recording is cut off: it has no end\n", to);
    else if (count > 0)
        fprintf(to, "  %zu of %zu recordings are cut off: they have no end\n", count,
                model->source_count);
}

bool report_summary_write(FILE *to, const struct report_model *model)
{
    static const struct report_style plain = { .width = 0 };
    const uint64_t all = model->totals[model->main] + model->unsampled;
    const struct report_unit *unit = report_unit_of(&plain, REPORT_TIME, model->unsampled);
    bool good;

    write_starts(to, model);
    write_choice(to, &model->choice);
    write_engines(to, model);
    write_time(to, model);
    if (model->unsampled > 0)
        fprintf(to, "  %.*f %s of it were never sampled (%.2f %%)\n", unit->decimals,
                report_in_unit(unit, model->unsampled), unit->name,
                report_share(model->unsampled, all));
    if (model->truncated > 0)
        write_truncated(to, model);
    good = report_nameless_write(to, model, all) && report_all_losses_write(to, model);
    write_unfinished(to, model);
    return good;
}
