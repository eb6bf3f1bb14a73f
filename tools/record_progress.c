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

void record_progress(const struct sfb_recorder_totals *totals, uint64_t size, uint64_t passed_ns)
{
    char text[32];

    if (!isatty(STDERR_FILENO))
        return;
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

void record_summary(const struct sfb_recorder_totals *totals, const char *file, uint64_t size,
                    uint64_t unwritten)
{
    char text[32];

    fprintf(stderr, "sfb: %" PRIu64 " samples of %.2f CPU seconds, %" PRIu64 " lost, %u %s, %s in ",
            totals->samples, (double)totals->weight / 1e9, lost_samples(totals), totals->processes,
            totals->processes == 1 ? "process" : "processes", bytes_text(text, sizeof text, size));
    foreign_print(stderr, file);
    fputs(": sfb report ", stderr);
    foreign_print(stderr, file);
    fputc('\n', stderr);
    if (unwritten > 0)
        fprintf(stderr, "sfb: %" PRIu64 " more samples were taken that the file has no room for\n",
                unwritten);
    for (uint32_t reason = 0; reason < SFB_LOSS_COUNT; reason++)
        if (totals->lost[reason] > 0)
            fprintf(stderr, "sfb: %" PRIu64 " x %s\n", totals->lost[reason],
                    sfb_recording_loss_str(reason));
}
