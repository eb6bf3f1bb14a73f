#include "profiler/report/text/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/amount.h"
#include "profiler/report/text/advice.h"
#include "util/counted.h"
#include "util/foreign.h"

/* What the losses of one reason are a part of: their share says whether they matter. */
struct basis {
    uint64_t samples, threads, processes, lists, bytes, events, ns;
};

static void add_basis(struct basis *to, const struct report_data *data)
{
    to->samples += data->sample_count;
    to->threads += data->threads.count;
    to->processes += data->processes.count;
    to->lists += data->lists.count;
    to->bytes += data->health.size;
    to->events += data->heap.events.count;
    for (size_t i = 0; i < data->heap.heaps.count; i++) {
        const uint32_t state = data->heap.heaps.at[i].state;

        if (state != REPORT_NONE)
            to->events = report_saturated(to->events, data->heap.states.at[state].allocated.blocks);
    }
    to->ns = report_saturated(to->ns, data->sampled_ns);
}

/*
 * Of 301 processes the one that is not there may be the one that is slow: a process without a record is a loss of unknown share.
 *
 * @return what was recorded of the same kind; 0: there is no such number, and each loss matters
 */
static uint64_t recorded(const struct basis *b, uint32_t reason)
{
    switch (reason) {
    case SFB_LOSS_RING_FULL:
    case SFB_LOSS_NESTED:
    case SFB_LOSS_LATE: return b->samples;
    case SFB_LOSS_NO_RING:
    case SFB_LOSS_NO_TIMER: return b->threads;
    case SFB_LOSS_NOT_FOLLOWED:
    case SFB_LOSS_FILTER:
    case SFB_LOSS_PYTHON:
    case SFB_LOSS_PYTHON_FUNCTIONS:
    case SFB_LOSS_PYTHON_OBJECTS: return b->processes;
    case SFB_LOSS_MODULES: return b->lists;
    case SFB_LOSS_FILE: return b->bytes;
    case SFB_LOSS_HEAP_EVENTS: return b->events;
    case SFB_LOSS_CPU: return b->ns / 1000000;
    default: return 0;
    }
}

/* Figures about the recording that lack nothing of it. */
static bool is_no_loss(uint32_t reason)
{
    return reason == SFB_LOSS_HEAP_WAITS || reason == SFB_LOSS_RATE ||
           reason == SFB_LOSS_INTERRUPTED || reason == SFB_LOSS_LOOKS;
}

static bool is_shown(const struct report_loss *all, size_t count, const struct basis *basis,
                     enum report_detail detail)
{
    const uint32_t reason = all[0].reason;
    uint64_t lost = 0, had;

    /* The rate that was asked for stands in the first line, and that waits are exact goes without saying. */
    if (detail == REPORT_DETAIL_ALL || reason == SFB_LOSS_RATE || reason == SFB_LOSS_LOOKS)
        return true;
    for (size_t i = 0; i < count && all[i].reason == reason; i++)
        lost = report_saturated(lost, all[i].count);
    had = recorded(basis, reason);
    return !is_no_loss(reason) &&
           report_detail_has(detail, lost, had > 0 ? report_saturated(lost, had) : 0);
}

/* One line for each reason and text: they stand together. */
static void write_losses(FILE *to, const struct report_data *data, const struct basis *basis,
                         enum report_detail detail)
{
    const struct report_loss *all = data->losses.at;
    bool shown = true;

    for (size_t i = 0, next; i < data->losses.count; i = next) {
        uint64_t count = 0;

        if (i == 0 || all[i - 1].reason != all[i].reason)
            shown = is_shown(&all[i], data->losses.count - i, basis, detail);
        for (next = i; next < data->losses.count && all[next].reason == all[i].reason &&
                       strcmp(all[next].text, all[i].text) == 0;
             next++)
            count += all[next].count;
        if (count == 0 || !shown)
            continue;
        fprintf(to, "  %s%s", is_no_loss(all[i].reason) ? "" : "lost: ",
                counted(count, sfb_recording_loss_str(all[i].reason)).text);
        if (all[i].text[0]) {
            fputs(": ", to);
            foreign_print(to, all[i].text);
        }
        fputc('\n', to);
        if (detail == REPORT_DETAIL_CALM &&
            (next == data->losses.count || all[next].reason != all[i].reason))
            report_advice_loss(to, data, all[i].reason);
    }
}

void report_losses_write(FILE *to, const struct report_data *data)
{
    const struct basis none = { .samples = 0 };

    write_losses(to, data, &none, REPORT_DETAIL_ALL);
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
    fprintf(to, "%s%s", before, counted(count, what).text);
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
        fprintf(to, "  %zu of %s %s damaged, and parts are missing", count,
                counted(model->source_count, "recordings").text, count == 1 ? "is" : "are");
    part = put_part(to, part, sum.lost_records, "lost records");
    part = put_part(to, part, sum.bad_records, "bad records");
    part = put_part(to, part, sum.bad_blocks, "bad blocks");
    put_part(to, part, sum.skipped, "unreadable bytes");
    fputs(" (sfb report --check)\n", to);
}

bool report_all_losses_write(FILE *to, const struct report_model *model, enum report_detail detail)
{
    struct report_data all = { .health = { .size = 0 } };
    struct basis basis = { .samples = 0 };
    bool good = true;

    write_damage(to, model);
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        add_basis(&basis, data);
        if (i == 0) { /* what is advised is as of the first one */
            all.start = data->start;
            all.wait_count = data->wait_count;
        }
        for (size_t k = 0; good && k < data->losses.count; k++) {
            struct report_loss *loss = REPORT_NEXT(all.losses);

            good = loss != NULL;
            if (loss)
                *loss = data->losses.at[k];
        }
    }
    if (good) {
        report_data_sort_losses(&all);
        write_losses(to, &all, &basis, detail);
    }
    free(all.losses.at);
    return good;
}

static void write_heap(FILE *to, const struct report_data *data)
{
    const struct report_heap_data *heap = &data->heap;

    fprintf(to, "%s of the heap, %s of %s, %s, ", counted(heap->events.count, "events").text,
            counted(heap->totals.count, "sums").text, counted(heap->sites.count, "sites").text,
            counted(heap->states.count, "states").text);
}

bool report_health_write(FILE *to, const char *path, const struct report_data *data)
{
    const struct sfb_recording_health *h = &data->health;
    const bool whole = h->finished && h->skipped == 0 && h->bad_blocks == 0 &&
                       h->bad_records == 0 && h->torn == 0 && h->lost_records == 0;

    foreign_print(to, path);
    fprintf(to, ": %s: %s, %s, ", whole ? "whole" : "not whole", counted(h->size, "bytes").text,
            counted(h->blocks, "blocks").text);
    if (report_data_is_heap(data))
        write_heap(to, data);
    else
        fprintf(to, "%s, ", counted(data->sample_count, "samples").text);
    if (data->wait_count > 0)
        fprintf(to, "%s, ", counted(data->wait_count, "waits").text);
    fprintf(to, "%s\n", counted(data->stacks.count, "stacks").text);
    if (data->heap.events.count > 0)
        fprintf(to, "  %.2f bytes an event in their blocks\n",
                (double)h->bytes_of_type[SFB_RECORDING_TYPE_HEAP] /
                    (double)data->heap.events.count);
    if (data->sample_count > 0 && data->wait_count == 0)
        fprintf(to, "  %.1f bytes a sample in blocks of stacks and samples\n",
                (double)h->bytes_of_type[SFB_RECORDING_TYPE_EVENTS] / (double)data->sample_count);
    if (h->finished) {
        fputs("  ended: ", to);
        foreign_print(to, data->finish.reason);
        fputc('\n', to);
    } else {
        fputs("  cut off: it has no end\n", to);
    }
    if (h->torn > 0)
        fprintf(to, "  the last block is torn: %s\n", counted(h->torn, "bytes").text);
    if (h->skipped > 0)
        fprintf(to, "  %s no block, from byte %" PRIu64 " on\n",
                counted(h->skipped, "bytes are").text, h->skipped_at);
    if (h->bad_blocks > 0)
        fprintf(to, "  %s damaged\n", counted(h->bad_blocks, "blocks are").text);
    if (h->bad_records > 0)
        fprintf(to, "  %s with contradictions\n", counted(h->bad_records, "records").text);
    if (h->lost_records > 0)
        fprintf(to, "  at least %s missing\n", counted(h->lost_records, "records are").text);
    if (data->heap.contradictions > 0)
        fprintf(to, "  %s of the heap cannot be true\n",
                counted(data->heap.contradictions, "records").text);
    if (h->unknown_blocks > 0 || h->unknown_records > 0)
        fprintf(to, "  of a later version, passed over: %s, %s\n",
                counted(h->unknown_blocks, "blocks").text,
                counted(h->unknown_records, "records").text);
    report_losses_write(to, data);
    return whole;
}
