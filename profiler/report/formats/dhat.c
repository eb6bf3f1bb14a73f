#include "profiler/report/formats/dhat.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/heap_groups.h"
#include "profiler/report/formats/json.h"

/* What is called short in the viewer, in us: it marks sites whose blocks live no longer than that on average. */
enum { SHORT_US = 500 };

/* Frames of the file: functions at places, and what stands for frames that are not there. */
struct frames {
    const struct report_model *model;
    FILE *to;     /* the table */
    uint32_t *of; /* of each line: its number; 0: none yet */
    uint32_t marks[4];
    uint32_t count;
};

const char *report_dhat_refuses(const struct report_model *model)
{
    return report_heap_is_no_run(model);
}

/* --- Frames -------------------------------------------------------------------------------------- */

static void put_text(FILE *to, const struct report_model *model, const struct report_step *step)
{
    const struct report_location *l = &model->locations.at[step->location];
    const struct report_module *module = &model->modules.at[l->module];
    const char *file = report_text(model, step->line->file),
               *path = report_text(model, module->path);
    const char *name = report_name(model, step->line->function);
    const uint64_t address = (l->kind == REPORT_NATIVE ? module->start : 0) + l->offset;
    char *text = NULL;
    int size;

    if (file[0] && step->line->line > 0)
        size = asprintf(&text, "0x%" PRIX64 ": %s (%s:%" PRIu32 ")", address, name, file,
                        step->line->line);
    else if (path[0])
        size = asprintf(&text, "0x%" PRIX64 ": %s (in %s)", address, name, path);
    else
        size = asprintf(&text, "0x%" PRIX64 ": %s", address, name);
    report_json_text(to, size < 0 ? "?" : text);
    free(size < 0 ? NULL : text);
}

static uint32_t number_of(struct frames *f, const struct report_step *step)
{
    uint32_t *number = &f->marks[0];

    if (step->line)
        number = &f->of[step->line - f->model->lines.at];
    else if (step->mark[1] == 't') /* [truncated] */
        number = &f->marks[1];
    else if (step->mark[1] == 'n') /* [no stack] */
        number = &f->marks[2];
    else if (step->mark[1] == 'a') /* [await] */
        number = &f->marks[3];
    if (*number != 0)
        return *number;
    fputs(",\n  ", f->to);
    if (step->line)
        put_text(f->to, f->model, step);
    else
        report_json_text(f->to, step->mark);
    return *number = ++f->count;
}

/* --- Sites --------------------------------------------------------------------------------------- */

static void put_stack(FILE *to, struct frames *frames, uint32_t stack)
{
    struct report_steps steps = report_steps_of(frames->model, stack);
    struct report_step step;

    fputs("\"fs\":[", to);
    for (bool first = true; report_steps_next(&steps, &step); first = false)
        fprintf(to, first ? "%" PRIu32 : ",%" PRIu32, number_of(frames, &step));
    fputs("]}", to);
}

static void put_group(FILE *to, struct frames *frames, const struct report_heap_group *g)
{
    fprintf(to,
            "{\"tb\":%" PRIu64 ",\"tbk\":%" PRIu64 ",\"tl\":%" PRIu64 ",\"mb\":%" PRIu64
            ",\"mbk\":%" PRIu64 ",\"gb\":%" PRIu64 ",\"gbk\":%" PRIu64 ",\"eb\":%" PRIu64
            ",\"ebk\":%" PRIu64 ",\n   ",
            g->allocated.bytes, g->allocated.blocks, g->lifetimes / 1000, g->most.bytes,
            g->most.blocks, g->peak.bytes, g->peak.blocks, g->live.bytes, g->live.blocks);
    put_stack(to, frames, g->stack);
}

/* --- The run ------------------------------------------------------------------------------------- */

/* When most bytes lived: of several processes that of the one that had most. */
static uint64_t peak_of(const struct report_model *model)
{
    uint64_t most = 0, time = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.states.count; k++) {
            const struct sfb_recording_heap_state *state = &data->heap.states.at[k];

            if (state->peak.bytes < most || state->peak_time < data->start.monotonic)
                continue;
            most = state->peak.bytes;
            time = state->peak_time - data->start.monotonic;
        }
    }
    return time;
}

/* Words, with a blank between two. */
static void put_command(FILE *to, const struct report_data *data)
{
    size_t size = data && data->start.command ? data->start.command_size : 0;
    char *text = calloc(size + 1, 1);

    if (size > 0 && data->start.command[size - 1] == '\0')
        size--;
    for (size_t i = 0; text && i < size; i++)
        text[i] = data->start.command[i] ? data->start.command[i] : ' ';
    report_json_text(to, text ? text : "");
    free(text);
}

static void put_head(FILE *to, const struct report_model *model)
{
    const struct report_data *data = model->source_count > 0 ? model->sources[0].data : NULL;
    uint64_t end = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *d = model->sources[i].data;
        const uint64_t duration = report_data_end(d) - d->start.monotonic;

        end = duration > end ? duration : end;
    }
    fprintf(to,
            "{\"dhatFileVersion\":2\n,\"mode\":\"heap\",\"verb\":\"Allocated\"\n"
            ",\"bklt\":true,\"bkacc\":false\n,\"tu\":\"us\",\"Mtu\":\"s\"\n,\"tuth\":%d\n,\"cmd\":",
            SHORT_US);
    put_command(to, data);
    fprintf(to, "\n,\"pid\":%" PRIu32 "\n,\"te\":%" PRIu64 "\n,\"tg\":%" PRIu64 "\n,\"pps\":\n [",
            data && data->processes.count > 0 ? data->processes.at[0].pid : 0, end / 1000,
            (model->live_only ? end : peak_of(model)) / 1000);
}

bool report_dhat_write(FILE *to, const struct report_model *model)
{
    char *table = NULL;
    size_t size = 0;
    struct report_heap_groups groups;
    struct frames frames = { .model = model,
                             .to = open_memstream(&table, &size),
                             .of = calloc(model->lines.count + 1, sizeof *frames.of) };
    bool good = report_heap_groups_make(&groups, model) && frames.to && frames.of;

    if (good) {
        put_head(to, model);
        for (size_t i = 0; i < groups.all.count; i++) {
            fputs(i > 0 ? "\n ," : "", to);
            put_group(to, &frames, &groups.all.at[i]);
        }
    }
    if (frames.to && fclose(frames.to) != 0)
        good = false;
    if (good)
        fprintf(to, "\n ]\n,\"ftbl\":\n [\"[root]\"%s\n ]\n}\n", table);
    report_heap_groups_free(&groups);
    free(frames.of);
    free(table);
    return good;
}
