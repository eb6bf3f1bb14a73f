#include "profiler/report/formats/firefox.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/firefox_tables.h"
#include "profiler/report/formats/firefox_threads.h"
#include "profiler/report/formats/json.h"
#include "profiler/report/formats/time_line.h"

bool report_firefox_string(struct report_firefox *f, const char *text, uint32_t *out)
{
    return report_strings_add(&f->strings, text, out);
}

static const char *const categories[FIREFOX_CATEGORIES][2] = {
    [FIREFOX_OTHER] = { "Other", "grey" },
    [FIREFOX_PROGRAM] = { "Program", "yellow" },
    [FIREFOX_LIBRARY] = { "Library", "blue" },
    [FIREFOX_MADE] = { "Made at run time", "green" },
};

static double interval_ms(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].data->start.rate_hz > 0)
            return 1000.0 / model->sources[i].data->start.rate_hz;
    return 1.0;
}

/* When the last recording ended, from the beginning of the first one. */
static uint64_t duration(const struct report_firefox *f)
{
    uint64_t end = 0;

    for (size_t i = 0; i < f->model->source_count; i++) {
        const struct report_data *data = f->model->sources[i].data;
        const uint64_t start =
            data->start.realtime > f->origin ? data->start.realtime - f->origin : 0;
        const uint64_t its = report_saturated(start, report_data_end(data) - data->start.monotonic);

        if (its > end)
            end = its;
    }
    return end;
}

static bool has_names(const struct report_model *model)
{
    for (size_t i = 0; i < model->functions.count; i++)
        if (model->functions.at[i].known)
            return true;
    return model->functions.count == 0;
}

static void put_marker_schema(FILE *to)
{
    fputs("\"markerSchema\":[{\"name\":\"Process\",\"tooltipLabel\":\"{marker.data.program}\","
          "\"tableLabel\":\"{marker.data.program}: {marker.data.end}\","
          "\"chartLabel\":\"{marker.data.program}\","
          "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":["
          "{\"key\":\"program\",\"label\":\"Program\",\"format\":\"file-path\"},"
          "{\"key\":\"arguments\",\"label\":\"Arguments\",\"format\":\"string\"},"
          "{\"key\":\"end\",\"label\":\"End\",\"format\":\"string\"}]}]",
          to);
}

static void put_meta(const struct report_firefox *f)
{
    const struct report_model *model = f->model;
    const struct sfb_recording_start *start =
        model->source_count > 0 ? &model->sources[0].data->start : NULL;

    fprintf(f->to,
            "\"meta\":{\"version\":31,\"preprocessedProfileVersion\":61,\"interval\":%.6f,"
            "\"startTime\":",
            interval_ms(model));
    report_time_line_put(f->to, f->origin, 6);
    fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", f->to);
    report_time_line_put(f->to, duration(f), 6);
    fputs(",\"processType\":0,\"stackwalk\":1,\"product\":", f->to);
    report_json_text(f->to, start && start->command ? start->command : "");
    fputs(",\"oscpu\":", f->to);
    report_json_text(f->to, start && start->host ? start->host : "");
    fprintf(f->to,
            ",\"importedFrom\":\"sframe-backtrace\",\"symbolicated\":%s,"
            "\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,"
            "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
            "\"categories\":[",
            has_names(model) ? "true" : "false");
    for (int i = 0; i < FIREFOX_CATEGORIES; i++)
        fprintf(f->to, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
                i > 0 ? "," : "", categories[i][0], categories[i][1]);
    fputs("],\n", f->to);
    put_marker_schema(f->to);
    fputs("},\n", f->to);
}

/* Modules that are a process's program. */
static bool find_programs(struct report_firefox *f)
{
    const struct report_model *model = f->model;
    bool good = f->program != NULL;

    for (size_t i = 0; good && i < model->members.count; i++) {
        uint32_t string;

        good = report_firefox_string(f, model->members.at[i].process->program, &string);
    }
    /* All strings so far are programs. */
    for (size_t i = 0, programs = f->strings.all.count; good && i < model->modules.count; i++) {
        uint32_t string;

        good = report_firefox_string(f, report_text(model, model->modules.at[i].path), &string);
        f->program[i] = good && string < programs;
    }
    return good;
}

bool report_firefox_write(FILE *to, const struct report_model *model)
{
    struct report_firefox f = { .to = to,
                                .model = model,
                                .of_row = calloc(model->rows.count + 1, sizeof *f.of_row),
                                .program = calloc(model->modules.count + 1, sizeof *f.program),
                                .origin = report_pieces_origin(model) };
    bool good = find_programs(&f);

    good = report_pieces_make(&f.pieces, model, 0) && good && f.of_row;
    fputs("{", to);
    put_meta(&f);
    good = good && report_firefox_put_threads(&f);
    good = good && report_firefox_put_tables(&f);
    fputs("}\n", to);
    report_pieces_free(&f.pieces);
    report_call_nodes_free(&f.stacks);
    report_strings_free(&f.strings);
    free(f.frames.all.at);
    free(f.of_row);
    free(f.program);
    return good;
}
