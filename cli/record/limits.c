#include "cli/record/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool_reporter.h"
#include "profiler/report/model/make.h"
#include "profiler/report/model/suppressions.h"
#include "profiler/report/model/symbol_names.h"
#include "util/counted.h"

/* What lives in each program at its end: buffers of stdio, and what the loader and its constructors keep. */
static const char usual[] = "leak:^_IO_file_doallocate$\nleak:ld-linux\n";

static struct report_suppressions usual_ones, given;

bool record_limits_read(const struct record_request *request)
{
    const char *path = request->suppressions;
    size_t line;

    if (!request->fail_on_leak)
        return true;
    if (report_suppressions_read(&usual_ones, usual, &line) &&
        (!path || report_suppressions_read_file(&given, path, &line)))
        return true;
    if (line > 0)
        tool_complain(TOOL_FAILED, "record: %s:%zu: no suppression of a leak: leak:PATTERN", path,
                      line);
    else
        tool_complain(TOOL_FAILED, "record: %s: %s", path ? path : "suppressions", strerror(errno));
    return false;
}

/* --- leaks --------------------------------------------------------------------------------------- */

struct leaks {
    uint64_t blocks, bytes;
    bool exited; /* the program, and was recorded */
};

static bool is_of_program(const struct report_process *process, pid_t pid)
{
    return process->pid == (uint32_t)pid && process->ended && process->end == SFB_PROCESS_EXITED;
}

static bool is_suppressed(const struct report_model *model, uint32_t stack)
{
    return report_suppressions_find(&usual_ones, model, stack) ||
           report_suppressions_find(&given, model, stack);
}

static void add_leaks(struct leaks *out, const struct report_model *model, pid_t pid)
{
    const struct report_data *data = model->sources[0].data;

    for (size_t i = 0; i < data->processes.count; i++)
        out->exited |= is_of_program(&data->processes.at[i], pid);
    for (size_t i = 0; i < model->sites.count; i++) {
        const struct report_site *site = &model->sites.at[i];
        const struct report_heap *heap = &data->heap.heaps.at[site->site->heap];

        if (!site->totals || site->totals->live.blocks == 0 ||
            !is_of_program(&data->processes.at[heap->process], pid) ||
            is_suppressed(model, model->rows.at[site->row].stack))
            continue;
        out->blocks += site->totals->live.blocks;
        out->bytes += site->totals->live.bytes;
    }
}

/* @return false: it could not be read. errno says why, or is 0 */
static bool find_leaks(struct leaks *out, const char *path, pid_t pid)
{
    struct object_places places = { 0 };
    struct symbols *symbols = symbols_open(&places, &tool_complaints);
    struct report_symbol_names *names =
        symbols ? report_symbol_names_open(symbols, OBJECT_NAME_FULL) : NULL;
    struct report_model model = { .heap = false };
    struct report_data data;
    struct sfb_error error;
    bool good;

    errno = 0;
    good = report_data_read(&data, path, &error) == SFB_OK && names;
    if (good) {
        const struct report_source source = { .data = &data,
                                              .namer = report_symbol_names_namer(names) };

        good = report_model_make(&model, &source, 1, NULL);
        if (good)
            add_leaks(out, &model, pid);
        report_model_free(&model);
    }
    report_data_free(&data);
    report_symbol_names_close(names);
    symbols_close(symbols);
    return good;
}

static bool has_no_leak(const struct record_outcome *outcome, pid_t pid)
{
    const uint64_t lost = outcome->totals.lost[SFB_LOSS_HEAP_EVENTS];
    struct leaks leaks = { .blocks = 0 };

    if (lost > 0)
        tool_complain(TOOL_BAD_DATA, "--fail-on-leak: %s lost, and blocks may only seem to live",
                      counted(lost, "events were").text);
    else if (!find_leaks(&leaks, outcome->file, pid))
        tool_complain(TOOL_BAD_DATA, "--fail-on-leak: %s: %s", outcome->file,
                      errno ? strerror(errno) : "cannot be read");
    else if (leaks.blocks > 0)
        tool_complain(
            TOOL_BAD_DATA, "--fail-on-leak: %s of %lu bytes live at the end: sfb report --leaks %s",
            counted(leaks.blocks, "blocks").text, (unsigned long)leaks.bytes, outcome->file);
    else if (!leaks.exited)
        tool_complain(TOOL_BAD_DATA,
                      "--fail-on-leak: the program did not exit while it was recorded");
    else
        return true;
    return false;
}

/* --- all of them --------------------------------------------------------------------------------- */

static bool is_below(const struct record_request *request, const struct record_outcome *outcome)
{
    const uint64_t peak = outcome->totals.heap.peak_bytes;

    if (request->fail_above == 0 || peak <= request->fail_above)
        return true;
    tool_complain(
        TOOL_BAD_DATA,
        "--fail-above: the peak is %lu bytes, and %lu are allowed: sfb report --value peak %s",
        (unsigned long)peak, (unsigned long)request->fail_above, outcome->file);
    return false;
}

bool record_limits_judge(const struct record_request *request, const struct record_outcome *outcome,
                         pid_t pid)
{
    const bool below = is_below(request, outcome);

    return (!request->fail_on_leak || has_no_leak(outcome, pid)) && below;
}
