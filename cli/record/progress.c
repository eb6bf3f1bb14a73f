#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/parts.h"
#include "profiler/collector/rings/watch.h"
#include "util/counted.h"
#include "util/foreign.h"

static bool shown;

/* A number of bytes, with three digits or so. */
static const char *bytes_text(char *out, size_t room, uint64_t size)
{
    if (size < 10000)
        snprintf(out, room, "%.31s", counted(size, "bytes").text);
    else if (size < UINT64_C(10000) << 10)
        snprintf(out, room, "%.1f KiB", (double)size / 1024);
    else if (size < UINT64_C(10000) << 20)
        snprintf(out, room, "%.1f MiB", (double)size / (1 << 20));
    else
        snprintf(out, room, "%.1f GiB", (double)size / (1 << 30));
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

    fprintf(stderr, "\rsfb: %.0f s, %s, live %s, peak %s, %s lost, %s\x1b[K",
            (double)passed_ns / 1e9, counted(totals->heap.allocated_blocks, "allocations").text,
            bytes_text(live, sizeof live, totals->heap.live_bytes),
            bytes_text(peak, sizeof peak, totals->heap.peak_bytes),
            counted(lost_heap_events(totals), "events").text, bytes_text(text, sizeof text, size));
}

/* A shell with jobs takes the terminal for itself: a line drawn there would be among its own. */
static bool can_draw(void)
{
    const char *name = getenv("TERM");

    return isatty(STDERR_FILENO) && name && strcmp(name, "dumb") != 0 &&
           tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* Of a recording by --wall: an idle program may have no sample. */
static const char *waits_text(char *out, size_t room, const struct record_request *request,
                              const struct sfb_recorder_totals *totals)
{
    out[0] = '\0';
    if (request->wall_hz > 0)
        snprintf(out, room, ", %.2f s of waits", (double)totals->waited / 1e9);
    return out;
}

void record_progress(const struct record_request *request, const struct sfb_recorder_totals *totals,
                     uint64_t size, uint64_t passed_ns)
{
    char text[32], waits[64];

    if (!request->progress || !can_draw())
        return;
    if (request->heap)
        heap_progress(totals, size, passed_ns);
    else
        fprintf(stderr, "\rsfb: %.0f s, %s%s, %" PRIu64 " lost, %s\x1b[K", (double)passed_ns / 1e9,
                counted(totals->samples, "samples").text,
                waits_text(waits, sizeof waits, request, totals), lost_samples(totals),
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

static void cpu_summary(const struct record_request *request,
                        const struct sfb_recorder_totals *totals)
{
    char waits[64];

    fprintf(stderr, "sfb: %s of %.2f CPU seconds%s, %" PRIu64 " lost",
            counted(totals->samples, "samples").text, (double)totals->weight / 1e9,
            waits_text(waits, sizeof waits, request, totals), lost_samples(totals));
}

/* The peaks of several processes are summed as what lives is, and as the report does it. */
static void heap_summary(const struct sfb_recorder_totals *totals)
{
    const struct sfb_recorder_heap_totals *h = &totals->heap;
    const char *about = h->sampled ? "about " : "";
    char bytes[32], peak[32], live[32];

    fprintf(stderr, "sfb: %s%s of %s, %s %s%s, live at the end %s%s in %s, %s lost", about,
            counted(h->allocated_blocks, "allocations").text,
            bytes_text(bytes, sizeof bytes, h->allocated_bytes),
            h->peaks > 1 ? "sum of peaks" : "peak", about,
            bytes_text(peak, sizeof peak, h->peak_bytes), about,
            bytes_text(live, sizeof live, h->live_bytes), counted(h->live_blocks, "blocks").text,
            counted(lost_heap_events(totals), "events").text);
    if (totals->lost[SFB_LOSS_FILTER] > 0)
        fputs(" before a seccomp filter", stderr);
}

static void tell_heap(const struct sfb_recorder_heap_totals *h)
{
    if (h->unknown_frees > 0)
        fprintf(stderr, "sfb: %s of blocks that were allocated before\n",
                counted(h->unknown_frees, "frees").text);
    if (h->conflicts > 0)
        fprintf(stderr, "sfb: %s that contradicted others\n", counted(h->conflicts, "events").text);
}

static void last_line(const struct record_request *request, const struct record_outcome *outcome)
{
    const struct sfb_recorder_totals *totals = &outcome->totals;
    char text[32];

    if (request->heap)
        heap_summary(totals);
    else
        cpu_summary(request, totals);
    fprintf(stderr, ", %s, %s in ", counted(totals->processes, "processes").text,
            bytes_text(text, sizeof text, outcome->size));
    foreign_print(stderr, outcome->file);
    fputs(": sfb report ", stderr);
    foreign_print(stderr, outcome->file);
    fputc('\n', stderr);
}

/* It is not so many losses but an amount, and its text says of which programs. */
static void unrecorded_line(uint64_t ms, const char *text)
{
    fprintf(stderr, "sfb: %s: ", counted(ms, sfb_recording_loss_str(SFB_LOSS_CPU)).text);
    foreign_print(stderr, text);
    fputc('\n', stderr);
}

void record_summary(const struct record_request *request, const struct record_outcome *outcome)
{
    const struct sfb_recorder_totals *totals = &outcome->totals;

    if (outcome->error != 0 && !outcome->limited)
        tool_complain(TOOL_FAILED, "record: %s: %s: the recording ended there", outcome->file,
                      strerror(outcome->error));
    if (request->quiet)
        return;
    if (outcome->limited)
        tool_complain(TOOL_DONE, "record: --max-size was reached: the recording ended there");
    if (outcome->nothing)
        tool_complain(TOOL_DONE, "record: no %s: %s", request->heap ? "allocations" : "samples",
                      outcome->nothing);
    last_line(request, outcome);
    if (outcome->unwritten > 0)
        fprintf(stderr, "sfb: %s taken that the file has no room for\n",
                counted(outcome->unwritten, "more samples were").text);
    if (request->heap)
        tell_heap(&totals->heap);
    for (uint32_t reason = 0; reason < SFB_LOSS_COUNT; reason++)
        if (totals->lost[reason] > 0 && reason != SFB_LOSS_CPU)
            fprintf(stderr, "sfb: %s\n",
                    counted(totals->lost[reason], sfb_recording_loss_str(reason)).text);
    if (totals->lost[SFB_LOSS_CPU] > 0)
        unrecorded_line(totals->lost[SFB_LOSS_CPU], outcome->unrecorded);
}

void record_crash_line(int wait_status)
{
    const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;

    /* Shells are silent about these two. */
    if (number == 0 || number == SIGINT || number == SIGPIPE)
        return;
    fprintf(stderr, "%s%s\n", strsignal(number), WCOREDUMP(wait_status) ? " (core dumped)" : "");
}
