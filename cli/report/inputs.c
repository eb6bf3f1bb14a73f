#include "cli/report/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/apitrace_input.h"
#include "cli/report/heap_logs.h"
#include "cli/report/perf_input.h"
#include "cli/report/progress.h"
#include "cli/tool_reporter.h"
#include "profiler/report/model/symbol_names.h"
#include "profiler/report/text/losses.h"

static enum tool_exit refuse(const char *path, enum sfb_status status)
{
    if (status == SFB_NO_RESOURCE)
        return tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno ? errno : ENOMEM));
    return tool_complain(TOOL_BAD_DATA, "%s: %s", path,
                         status == SFB_BAD_VERSION ? "a recording of a later version"
                         : status == SFB_TRUNCATED
                             ? "no recording: it ends before the end of a recording's header"
                             : "no recording: it begins with other bytes");
}

/*
 * A file that is no recording may be one of perf, a trace of apitrace, or a log with dumps of live tables. What is wrong with it is kept for the end.
 *
 * @return SFB_END: it cannot be read, which has been said
 */
static enum sfb_status read_input(struct report_inputs *out, struct report_data *data,
                                  const struct report_request *r, const char *path)
{
    struct sfb_error error;
    enum sfb_status status = report_data_read(data, path, &error);
    enum tool_exit said = TOOL_DONE; /* of this input */
    char in_memory[32];
    int fd;

    if (status != SFB_BAD_MAGIC && status != SFB_TRUNCATED)
        return status;
    fd = report_perf_open(path, &said);
    if (fd < 0 && said == TOOL_DONE)
        fd = report_apitrace_open(&out->traces[out->count], path, &said);
    if (fd < 0 && said == TOOL_DONE)
        fd = report_log_open(r, path, out->symbols, &said);
    out->log_status = tool_worse(out->log_status, said);
    if (fd < 0)
        return said == TOOL_DONE ? status : SFB_END;
    report_data_free(data);
    snprintf(in_memory, sizeof in_memory, "/proc/self/fd/%d", fd);
    status = report_data_read(data, in_memory, &error);
    close(fd);
    return status;
}

enum tool_exit report_inputs_open(struct report_inputs *out, const struct report_request *r)
{
    const size_t count = r->path_count;

    *out = (struct report_inputs){ .data = calloc(count, sizeof *out->data),
                                   .names = calloc(count, sizeof *out->names),
                                   .traces = calloc(count, sizeof *out->traces),
                                   .sources = calloc(count, sizeof *out->sources) };
    if (!r->no_symbols)
        out->symbols = symbols_open(&r->places.object, &tool_complaints);
    if (!out->data || !out->names || !out->traces || !out->sources ||
        (!r->no_symbols && !out->symbols))
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    return TOOL_DONE;
}

enum tool_exit report_inputs_read(struct report_inputs *inputs, const struct report_request *r)
{
    const size_t i = inputs->count;
    enum sfb_status status;

    report_progress_note("reading", r->paths[i], i + 1, r->path_count);
    status = read_input(inputs, &inputs->data[i], r, r->paths[i]);
    inputs->count = i + 1;
    if (status == SFB_END)
        return TOOL_BAD_DATA;
    if (status != SFB_OK)
        return refuse(r->paths[i], status);
    if (!labels_add(&inputs->data[i].labels, r->labels.text, r->labels.size))
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    inputs->names[i] = report_symbol_names_open(inputs->symbols, r->names);
    if (!inputs->names[i])
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    inputs->sources[i] = (struct report_source){
        .data = &inputs->data[i],
        .namer = inputs->traces[i] ? report_apitrace_namer(inputs->traces[i])
                                   : report_symbol_names_namer(inputs->names[i]),
        .group = r->groups ? r->groups[i] : r->diff && i + 1 == r->path_count
    };
    return TOOL_DONE;
}

void report_inputs_release(struct report_inputs *inputs, size_t number)
{
    if (!report_data_is_heap(&inputs->data[number]))
        report_data_release(&inputs->data[number]);
}

enum tool_exit report_inputs_judge(const struct report_inputs *inputs,
                                   const struct report_request *r)
{
    enum tool_exit exit_status = inputs->log_status;

    for (size_t i = 0; i < inputs->count; i++) {
        if (!report_is_damaged(&inputs->data[i].health))
            continue;
        exit_status = tool_worse(
            exit_status,
            tool_complain(TOOL_BAD_DATA,
                          "%s: damaged: parts of it are missing; sfb report --check says more",
                          r->paths[i]));
    }
    return exit_status;
}

void report_inputs_close(struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        report_symbol_names_close(inputs->names[i]);
        report_apitrace_close(inputs->traces[i]);
        report_data_free(&inputs->data[i]);
    }
    symbols_close(inputs->symbols);
    free(inputs->data);
    free(inputs->names);
    free(inputs->traces);
    free(inputs->sources);
}
