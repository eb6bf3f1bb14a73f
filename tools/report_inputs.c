#include "report_inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_names.h"

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

enum tool_exit report_inputs_open(struct report_inputs *out, const struct report_request *r)
{
    const size_t count = r->path_count;
    struct sfb_error error;

    *out = (struct report_inputs){ .data = calloc(count, sizeof *out->data),
                                   .names = calloc(count, sizeof *out->names),
                                   .sources = calloc(count, sizeof *out->sources) };
    if (!r->no_symbols)
        out->symbols = symbols_open(&r->places.object);
    if (!out->data || !out->names || !out->sources || (!r->no_symbols && !out->symbols))
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    for (size_t i = 0; i < count; i++) {
        const enum sfb_status status = report_data_read(&out->data[i], r->paths[i], &error);

        out->count = i + 1;
        if (status != SFB_OK)
            return refuse(r->paths[i], status);
        out->names[i] = report_names_open(out->symbols, r->names);
        if (!out->names[i])
            return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
        out->sources[i] = (struct report_source){ .data = &out->data[i],
                                                  .namer = report_names_namer(out->names[i]),
                                                  .group = r->diff && i + 1 == count };
    }
    return TOOL_DONE;
}

enum tool_exit report_inputs_judge(const struct report_inputs *inputs,
                                   const struct report_request *r)
{
    enum tool_exit exit_status = TOOL_DONE;

    for (size_t i = 0; i < inputs->count; i++) {
        const struct sfb_recording_health *h = &inputs->data[i].health;

        if (h->skipped == 0 && h->bad_blocks == 0 && h->bad_records == 0 && h->lost_records == 0)
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
        report_names_close(inputs->names[i]);
        report_data_free(&inputs->data[i]);
    }
    symbols_close(inputs->symbols);
    free(inputs->data);
    free(inputs->names);
    free(inputs->sources);
}
