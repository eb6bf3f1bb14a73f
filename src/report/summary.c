#include "report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object/foreign.h"
#include "report/columns.h"
#include "report/tally.h"

/* Recordings that are named, and modules. */
enum { STARTS_MAX = 8, MODULES_MAX = 6 };

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

/* One line for each reason and text: they stand together. */
void report_losses_write(FILE *to, const struct report_data *data)
{
    const struct report_loss *all = data->losses.at;

    for (size_t i = 0, next; i < data->losses.count; i = next) {
        uint64_t count = 0;

        for (next = i; next < data->losses.count && all[next].reason == all[i].reason &&
                       strcmp(all[next].text, all[i].text) == 0;
             next++)
            count += all[next].count;
        if (count == 0)
            continue;
        fprintf(to, "  lost: %" PRIu64 " %s", count, sfb_recording_loss_str(all[i].reason));
        if (all[i].text[0]) {
            fputs(": ", to);
            foreign_print(to, all[i].text);
        }
        fputc('\n', to);
    }
}

/* Those of several recordings together. @return false: no memory */
static bool write_all_losses(FILE *to, const struct report_model *model)
{
    struct report_data all = { .health = { .size = 0 } };
    bool good = true;

    if (model->source_count == 1) {
        report_losses_write(to, model->sources[0].data);
        return true;
    }
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; good && k < data->losses.count; k++) {
            struct report_loss *loss = REPORT_NEXT(all.losses);

            good = loss != NULL;
            if (loss)
                *loss = data->losses.at[k];
        }
    }
    if (good) {
        report_data_sort_losses(&all);
        report_losses_write(to, &all);
    }
    free(all.losses.at);
    return good;
}

/* --- Modules without names --------------------------------------------------------------------- */

struct nameless {
    uint32_t module;
    uint64_t self;
};

static int compare_nameless(const void *a, const void *b)
{
    const struct nameless *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return (x->module > y->module) - (x->module < y->module);
}

static void write_module(FILE *to, const struct report_model *model, const struct nameless *n,
                         uint64_t all)
{
    const char *name = report_text(model, model->modules.at[n->module].name);

    foreign_print(to, name[0] ? name : "code in no module");
    fprintf(to, " %.2f %%", report_share(n->self, all));
}

/* Where the time of functions without a name is. @return false: no memory */
static bool write_nameless(FILE *to, const struct report_model *model, uint64_t all)
{
    struct nameless *modules = calloc(model->modules.count + 1, sizeof *modules);
    uint64_t others = 0;
    size_t count = 0;

    if (!modules)
        return false;
    for (size_t i = 0; i < model->modules.count; i++)
        modules[i].module = (uint32_t)i;
    for (size_t i = 0; i < model->rows.count; i++) {
        struct report_steps steps = report_steps_of(model, model->rows.at[i].stack);
        struct report_step leaf;

        if (!report_steps_next(&steps, &leaf) || !leaf.line)
            continue;
        const struct report_function *f = &model->functions.at[leaf.line->function];

        if (!f->known)
            modules[f->module].self += report_weight(model, &model->rows.at[i]);
    }
    qsort(modules, model->modules.count, sizeof *modules, compare_nameless);
    for (; count < model->modules.count && modules[count].self > 0; count++) {
        if (count >= MODULES_MAX) {
            others += modules[count].self;
            continue;
        }
        fputs(count == 0 ? "  without names: " : ", ", to);
        write_module(to, model, &modules[count], all);
    }
    if (others > 0)
        fprintf(to, ", %zu more modules %.2f %%", count - MODULES_MAX, report_share(others, all));
    if (count > 0)
        fputc('\n', to);
    free(modules);
    return true;
}

/* --- All of it --------------------------------------------------------------------------------- */

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
    const uint64_t old = report_group_all(model, 0), new = report_group_all(model, 1);
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
    const struct report_unit *unit = report_unit_of(&plain, model->unsampled);
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
    good = write_nameless(to, model, all) && write_all_losses(to, model);
    write_unfinished(to, model);
    return good;
}

bool report_health_write(FILE *to, const char *path, const struct report_data *data)
{
    const struct sfb_recording_health *h = &data->health;
    const bool whole = h->finished && h->skipped == 0 && h->bad_blocks == 0 &&
                       h->bad_records == 0 && h->torn == 0 && h->lost_records == 0;

    foreign_print(to, path);
    fprintf(to, ": %s: %" PRIu64 " bytes, %" PRIu64 " blocks, %zu samples, %zu stacks\n",
            whole ? "whole" : "not whole", h->size, h->blocks, data->samples.count,
            data->stacks.count);
    if (data->samples.count > 0)
        fprintf(to, "  %.1f bytes a sample in blocks of stacks and samples\n",
                (double)h->bytes_of_type[SFB_RECORDING_TYPE_EVENTS] / (double)data->samples.count);
    if (h->finished) {
        fputs("  ended: ", to);
        foreign_print(to, data->finish.reason);
        fputc('\n', to);
    } else {
        fputs("  cut off: it has no end\n", to);
    }
    if (h->torn > 0)
        fprintf(to, "  the last block is torn: %" PRIu64 " bytes\n", h->torn);
    if (h->skipped > 0)
        fprintf(to, "  %" PRIu64 " bytes are no block, from byte %" PRIu64 " on\n", h->skipped,
                h->skipped_at);
    if (h->bad_blocks > 0)
        fprintf(to, "  %" PRIu64 " blocks are damaged\n", h->bad_blocks);
    if (h->bad_records > 0)
        fprintf(to, "  %" PRIu64 " records contradict themselves\n", h->bad_records);
    if (h->lost_records > 0)
        fprintf(to, "  %" PRIu64 " records at least are missing\n", h->lost_records);
    if (h->unknown_blocks > 0 || h->unknown_records > 0)
        fprintf(to, "  of a later version, passed over: %" PRIu64 " blocks, %" PRIu64 " records\n",
                h->unknown_blocks, h->unknown_records);
    report_losses_write(to, data);
    return whole;
}
