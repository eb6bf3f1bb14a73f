#include "report/summary.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "object/foreign.h"

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

/* Of the last event, where the file was cut off. */
static uint64_t end_of(const struct report_data *data)
{
    uint64_t end = data->finish.time;

    for (size_t i = 0; i < data->samples.count; i++)
        if (data->samples.at[i].time > end)
            end = data->samples.at[i].time;
    return end > data->start.monotonic ? end : data->start.monotonic;
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
            seconds(end_of(data) - start->monotonic), start->rate_hz,
            sfb_recording_engine_str(start->engine));
    if (start->engine_text[0]) {
        fputs(": ", to);
        foreign_print(to, start->engine_text);
    }
    fputc('\n', to);
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

void report_summary_write(FILE *to, const struct report_model *model)
{
    const struct report_data *data = model->sources[0].data;
    const uint64_t all = model->totals[model->main] + model->unsampled;

    write_start(to, data);
    fprintf(to,
            "  CPU time %.3f s in %zu process%s and %zu thread%s: %" PRIu64
            " samples, %zu stacks\n",
            seconds(all), data->processes.count, data->processes.count == 1 ? "" : "es",
            data->threads.count, data->threads.count == 1 ? "" : "s", model->totals[0],
            model->stacks.count);
    if (model->unsampled > 0)
        fprintf(to, "  %.3f s of it were never sampled (%.2f %%)\n", seconds(model->unsampled),
                100.0 * (double)model->unsampled / (double)all);
    if (model->truncated > 0)
        write_truncated(to, model);
    report_losses_write(to, data);
    if (!data->health.finished)
        fputs("  the recording is cut off: it has no end\n", to);
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
