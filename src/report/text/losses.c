#include "report/text/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"

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
        fprintf(to, "  %s%" PRIu64 " %s",
                all[i].reason == SFB_LOSS_HEAP_WAITS || all[i].reason == SFB_LOSS_RATE ? ""
                                                                                       : "lost: ",
                count, sfb_recording_loss_str(all[i].reason));
        if (all[i].text[0]) {
            fputs(": ", to);
            foreign_print(to, all[i].text);
        }
        fputc('\n', to);
    }
}

bool report_is_damaged(const struct sfb_recording_health *h)
{
    return h->skipped > 0 || h->bad_blocks > 0 || h->bad_records > 0 || h->lost_records > 0;
}

/* @return what stands before the next part */
static const char *put_part(FILE *to, const char *before, uint64_t count, const char *what)
{
    if (count == 0)
        return before;
    fprintf(to, "%s%" PRIu64 " %s%s", before, count, what, count == 1 ? "" : "s");
    return ", ";
}

static void write_damage(FILE *to, const struct report_model *model)
{
    struct sfb_recording_health sum = { .size = 0 };
    size_t count = 0;
    const char *part = ": ";

    for (size_t i = 0; i < model->source_count; i++) {
        const struct sfb_recording_health *h = &model->sources[i].data->health;

        count += report_is_damaged(h);
        sum.skipped += h->skipped;
        sum.bad_blocks += h->bad_blocks;
        sum.bad_records += h->bad_records;
        sum.lost_records += h->lost_records;
    }
    if (count == 0)
        return;
    if (model->source_count == 1)
        fputs("  the recording is damaged, and parts of it are missing", to);
    else
        fprintf(to, "  %zu of %zu recordings are damaged, and parts of them are missing", count,
                model->source_count);
    part = put_part(to, part, sum.lost_records, "lost record");
    part = put_part(to, part, sum.bad_records, "bad record");
    part = put_part(to, part, sum.bad_blocks, "bad block");
    put_part(to, part, sum.skipped, "unreadable byte");
    fputs(" (sfb report --check)\n", to);
}

bool report_all_losses_write(FILE *to, const struct report_model *model)
{
    struct report_data all = { .health = { .size = 0 } };
    bool good = true;

    write_damage(to, model);
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

static void write_heap(FILE *to, const struct report_data *data)
{
    const struct report_heap_data *heap = &data->heap;

    fprintf(to, "%zu events of the heap, %zu sums of %zu sites, %zu states, ", heap->events.count,
            heap->totals.count, heap->sites.count, heap->states.count);
}

bool report_health_write(FILE *to, const char *path, const struct report_data *data)
{
    const struct sfb_recording_health *h = &data->health;
    const bool whole = h->finished && h->skipped == 0 && h->bad_blocks == 0 &&
                       h->bad_records == 0 && h->torn == 0 && h->lost_records == 0;

    foreign_print(to, path);
    fprintf(to, ": %s: %" PRIu64 " bytes, %" PRIu64 " blocks, ", whole ? "whole" : "not whole",
            h->size, h->blocks);
    if (report_data_is_heap(data))
        write_heap(to, data);
    else
        fprintf(to, "%zu samples, ", data->samples.count);
    fprintf(to, "%zu stacks\n", data->stacks.count);
    if (data->heap.events.count > 0)
        fprintf(to, "  %.2f bytes an event in their blocks\n",
                (double)h->bytes_of_type[SFB_RECORDING_TYPE_HEAP] /
                    (double)data->heap.events.count);
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
    if (data->heap.contradictions > 0)
        fprintf(to, "  %" PRIu64 " records of the heap cannot be true\n",
                data->heap.contradictions);
    if (h->unknown_blocks > 0 || h->unknown_records > 0)
        fprintf(to, "  of a later version, passed over: %" PRIu64 " blocks, %" PRIu64 " records\n",
                h->unknown_blocks, h->unknown_records);
    report_losses_write(to, data);
    return whole;
}
