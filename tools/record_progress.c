#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "object/foreign.h"
#include "record.h"
#include "recorder/watch.h"

static bool shown;

/* A number of bytes, with three digits or so. */
static const char *bytes_text(char *out, size_t room, uint64_t size)
{
    if (size < 10000)
        snprintf(out, room, "%" PRIu64 " bytes", size);
    else if (size < 10000000)
        snprintf(out, room, "%.1f kB", (double)size / 1e3);
    else
        snprintf(out, room, "%.1f MB", (double)size / 1e6);
    return out;
}

static uint64_t lost_samples(const struct sfb_recorder_totals *totals)
{
    return totals->lost[SFB_LOSS_RING_FULL] + totals->lost[SFB_LOSS_BAD_RING] +
           totals->lost[SFB_LOSS_NESTED];
}

static uint64_t lost_heap_events(const struct sfb_recorder_totals *totals)
{
    return totals->lost[SFB_LOSS_HEAP_EVENTS] + totals->lost[SFB_LOSS_BAD_RING];
}

static void heap_progress(const struct sfb_recorder_totals *totals, uint64_t size,
                          uint64_t passed_ns)
{
    char live[32], peak[32], text[32];

    fprintf(stderr,
            "\rsfb: %.0f s, %" PRIu64 " allocations, live %s, peak %s, %" PRIu64
            " events lost, %s\x1b[K",
            (double)passed_ns / 1e9, totals->heap.allocated_blocks,
            bytes_text(live, sizeof live, totals->heap.live_bytes),
            bytes_text(peak, sizeof peak, totals->heap.peak_bytes), lost_heap_events(totals),
            bytes_text(text, sizeof text, size));
}

void record_progress(const struct record_request *request, const struct sfb_recorder_totals *totals,
                     uint64_t size, uint64_t passed_ns)
{
    char text[32];

    if (!isatty(STDERR_FILENO))
        return;
    if (request->heap)
        heap_progress(totals, size, passed_ns);
    else
        fprintf(stderr, "\rsfb: %.0f s, %" PRIu64 " samples, %" PRIu64 " lost, %s\x1b[K",
                (double)passed_ns / 1e9, totals->samples, lost_samples(totals),
                bytes_text(text, sizeof text, size));
    fflush(stderr);
    shown = true;
}

void record_progress_end(void)
{
    if (shown)
        fputs("\r\x1b[K", stderr);
    shown = false;
}

static void cpu_summary(const struct sfb_recorder_totals *totals)
{
    fprintf(stderr, "sfb: %" PRIu64 " samples of %.2f CPU seconds, %" PRIu64 " lost",
            totals->samples, (double)totals->weight / 1e9, lost_samples(totals));
}

/* Of several processes the peak is that of the largest. */
static void heap_summary(const struct sfb_recorder_totals *totals)
{
    const struct sfb_recorder_heap_totals *h = &totals->heap;
    const char *about = h->sampled ? "about " : "";
    char bytes[32], peak[32], live[32];

    fprintf(stderr,
            "sfb: %s%" PRIu64 " allocations of %s, peak %s%s, live at the end %s%s in %" PRIu64
            " %s, %" PRIu64 " events lost",
            about, h->allocated_blocks, bytes_text(bytes, sizeof bytes, h->allocated_bytes), about,
            bytes_text(peak, sizeof peak, h->peak_bytes), about,
            bytes_text(live, sizeof live, h->live_bytes), h->live_blocks,
            h->live_blocks == 1 ? "block" : "blocks", lost_heap_events(totals));
}

static void tell_heap(const struct sfb_recorder_heap_totals *h)
{
    if (h->unknown_frees > 0)
        fprintf(stderr, "sfb: %" PRIu64 " x frees of blocks that were allocated before\n",
                h->unknown_frees);
    if (h->conflicts > 0)
        fprintf(stderr, "sfb: %" PRIu64 " x events that contradict others\n", h->conflicts);
}

void record_summary(const struct record_request *request, const struct sfb_recorder_totals *totals,
                    const char *file, uint64_t size, uint64_t unwritten)
{
    char text[32];

    if (request->heap)
        heap_summary(totals);
    else
        cpu_summary(totals);
    fprintf(stderr, ", %u %s, %s in ", totals->processes,
            totals->processes == 1 ? "process" : "processes", bytes_text(text, sizeof text, size));
    foreign_print(stderr, file);
    fputs(": sfb report ", stderr);
    foreign_print(stderr, file);
    fputc('\n', stderr);
    if (unwritten > 0)
        fprintf(stderr, "sfb: %" PRIu64 " more samples were taken that the file has no room for\n",
                unwritten);
    if (request->heap)
        tell_heap(&totals->heap);
    for (uint32_t reason = 0; reason < SFB_LOSS_COUNT; reason++)
        if (totals->lost[reason] > 0)
            fprintf(stderr, "sfb: %" PRIu64 " x %s\n", totals->lost[reason],
                    sfb_recording_loss_str(reason));
}
