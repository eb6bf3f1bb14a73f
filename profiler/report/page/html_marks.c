#include "profiler/report/page/html_marks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/page/html_runs.h"

enum { MOST = 1000 }; /* marks, and pauses, of a recording that the page has */

/* A damaged file may have any time: of the page, up to 2^53 ns. */
static uint64_t time_of(const struct report_data *data, uint64_t begin, uint64_t time)
{
    const uint64_t most = UINT64_C(1) << 53, start = data->start.monotonic;
    const uint64_t at = report_saturated(begin, time > start ? time - start : 0);

    return at < most ? at : most;
}

static void put_pauses(FILE *to, const struct report_data *data, uint64_t begin, bool *any)
{
    for (size_t i = 0; i < data->pauses.count && i < MOST; i++) {
        const struct report_pause *p = &data->pauses.at[i];
        const uint64_t end = p->to > 0 ? p->to : report_data_end(data);

        fprintf(to, "%s[%" PRIu64 ",%" PRIu64 "]", *any ? "," : "", time_of(data, begin, p->from),
                time_of(data, begin, end));
        *any = true;
    }
}

static void put_marks(FILE *to, const struct report_data *data, uint64_t begin, bool *any)
{
    for (size_t i = 0; i < data->marks.count && i < MOST; i++) {
        const struct report_moment *m = &data->marks.at[i];

        fprintf(to, "%s[%" PRIu64 ",", *any ? "," : "", time_of(data, begin, m->time));
        report_json_text(to, m->name);
        fputc(']', to);
        *any = true;
    }
}

bool html_marks_write(FILE *to, const struct report_model *model)
{
    uint64_t *begin = html_runs_begin(model);
    bool any = false;

    if (!begin)
        return false;
    fputs("\"pauses\":[", to);
    for (size_t i = 0; i < model->source_count; i++)
        put_pauses(to, model->sources[i].data, begin[i], &any);
    fputs("],\"marks\":[", to);
    any = false;
    for (size_t i = 0; i < model->source_count; i++)
        put_marks(to, model->sources[i].data, begin[i], &any);
    fputs("],\n", to);
    free(begin);
    return true;
}
