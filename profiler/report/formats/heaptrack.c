/*
 * Strings, places, stacks and sizes are numbered when they are first needed, each on a line of its own before the line
 * that needs it. All numbers are hexadecimal.
 */
#include "profiler/report/formats/heaptrack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/heap_groups.h"
#include "util/foreign.h"
#include "util/index.h"

/* The version whose reader this was written for, and that of the format. */
#define VERSION "v 10400 2\n"

/* Resident memory is counted in what the file calls a page. */
enum { PAGE = 4096 };

enum { MARK_OMITTED, MARK_TRUNCATED, MARK_NO_STACK, MARK_AWAIT, MARKS };

static const char *const marks[] = { "[omitted]", "[truncated]", "[no stack]", "[await]" };

struct track {
    const struct report_model *model;
    FILE *to;
    uint32_t *string_of; /* of each string of the model: its number; 0: none yet */
    uint32_t *place_of;  /* of each location, and mark: its number; 0: none yet */
    uint32_t *trace_of;  /* of each stack, and none: that of its leaf; 0: none yet */
    uint32_t *row_of;    /* of each site of the heap: + 1; 0: not wanted */
    uint32_t *size_of;   /* of each pair: its number; 0: none yet */
    uint32_t strings, places, traces, sizes;
    struct report_index nodes; /* traces, by place and parent */
    bool failed;
};

/* --- Which recordings ---------------------------------------------------------------------------- */

const char *report_heaptrack_refuses(const struct report_model *model)
{
    const char *cause = report_heap_is_no_run(model);
    const struct report_site *first = model->sites.count > 0 ? &model->sites.at[0] : NULL;

    if (cause)
        return cause;
    if (model->estimated)
        return "its readers count every block, and a sampled recording has estimates";
    for (size_t i = 1; i < model->sites.count; i++)
        if (model->sites.at[i].source != first->source ||
            model->sites.at[i].site->heap != first->site->heap)
            return "it has one process: choose one with --process PID";
    if (first && model->sources[first->source].data->heap.events.count == 0)
        return "the recording has sums and no events: sfb record --heap without --aggregate";
    return NULL;
}

/* --- Lines before others ------------------------------------------------------------------------- */

static uint32_t put_text(struct track *t, const char *text)
{
    fputs("s ", t->to);
    foreign_print(t->to, text);
    putc('\n', t->to);
    return ++t->strings;
}

static uint32_t string_of(struct track *t, uint32_t string)
{
    const char *text = report_text(t->model, string);

    if (text[0] == '\0')
        return 0;
    if (t->string_of[string] == 0)
        t->string_of[string] = put_text(t, text);
    return t->string_of[string];
}

static uint32_t put_location(struct track *t, const struct report_location *l)
{
    const struct report_model *model = t->model;
    const struct report_module *module = &model->modules.at[l->module];
    const uint32_t path = string_of(t, module->path);

    for (uint32_t i = 0; i < l->count; i++) {
        const struct report_line *line = &model->lines.at[l->at + i];

        string_of(t, model->functions.at[line->function].name);
        string_of(t, line->file);
    }
    fprintf(t->to, "i %" PRIx64 " %" PRIx32,
            (l->kind == REPORT_NATIVE ? module->start : 0) + l->offset, path);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct report_line *line = &model->lines.at[l->at + i];

        fprintf(t->to, " %" PRIx32 " %" PRIx32 " %" PRIx32,
                string_of(t, model->functions.at[line->function].name), string_of(t, line->file),
                line->line);
    }
    putc('\n', t->to);
    return ++t->places;
}

static uint32_t place_of(struct track *t, uint32_t frame)
{
    const size_t count = t->model->locations.count;
    unsigned mark = MARK_NO_STACK;
    uint32_t *place, text;

    if (frame < count) {
        place = &t->place_of[frame];
        return *place ? *place : (*place = put_location(t, &t->model->locations.at[frame]));
    }
    if (frame == (uint32_t)REPORT_OMITTED)
        mark = MARK_OMITTED;
    else if (frame == (uint32_t)REPORT_TRUNCATED)
        mark = MARK_TRUNCATED;
    else if (frame == (uint32_t)REPORT_AWAIT)
        mark = MARK_AWAIT;
    place = &t->place_of[count + mark];
    if (*place == 0) {
        text = put_text(t, marks[mark]);
        fprintf(t->to, "i %x 0 %" PRIx32 " 0 0\n", mark + 1, text);
        *place = ++t->places;
    }
    return *place;
}

static uint32_t node_of(struct track *t, uint32_t place, uint32_t parent)
{
    uint32_t node = 0;
    bool found = false;

    if (!report_index_find(&t->nodes, place, parent, t->traces + 1, &node, &found))
        t->failed = true;
    else if (!found) {
        fprintf(t->to, "t %" PRIx32 " %" PRIx32 "\n", place, parent);
        t->traces = node;
    }
    return node;
}

static uint32_t trace_of(struct track *t, uint32_t stack)
{
    const struct report_model *model = t->model;
    uint32_t *trace = &t->trace_of[stack == REPORT_NONE ? model->stacks.count : stack];

    if (*trace != 0)
        return *trace;
    if (report_has_no_stack(model, stack))
        *trace = node_of(t, place_of(t, REPORT_NONE - 2), 0);
    else
        for (uint32_t i = model->stacks.at[stack].count; i > 0; i--)
            *trace = node_of(t, place_of(t, model->frames.at[model->stacks.at[stack].at + i - 1]),
                             *trace);
    return *trace;
}

/* --- Events -------------------------------------------------------------------------------------- */

static void put_event(struct track *t, const struct report_heap_data *heap, uint32_t event)
{
    const uint32_t pair = event >> 1, row = t->row_of[heap->pairs.at[pair].site];
    uint32_t trace;

    if (row == 0)
        return;
    if (t->size_of[pair] == 0) {
        trace = trace_of(t, t->model->rows.at[row - 1].stack);
        fprintf(t->to, "a %" PRIx64 " %" PRIx32 "\n", heap->pairs.at[pair].size, trace);
        t->size_of[pair] = ++t->sizes;
    }
    fprintf(t->to, "%c %" PRIx32 "\n", event & 1 ? '-' : '+', t->size_of[pair]);
}

/* Milliseconds from the beginning of the recording. */
static uint64_t ms_of(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? (time - data->start.monotonic) / 1000000 : 0;
}

/* What the kernel counted up to a time. @return the next state */
static size_t put_resident(struct track *t, const struct report_data *data, uint32_t process,
                           size_t state, uint64_t time)
{
    for (; state < data->heap.states.count && data->heap.states.at[state].time <= time; state++)
        if (data->heap.states.at[state].process == process &&
            data->heap.states.at[state].resident > 0)
            fprintf(t->to, "R %" PRIx64 "\n", data->heap.states.at[state].resident / PAGE);
    return state;
}

static void put_events(struct track *t, const struct report_data *data, uint32_t process)
{
    const struct report_heap_data *heap = &data->heap;
    size_t state = 0;

    for (size_t m = 0; m < heap->marks.count && !t->failed; m++) {
        const size_t end =
            m + 1 < heap->marks.count ? heap->marks.at[m + 1].event : heap->events.count;

        fprintf(t->to, "c %" PRIx64 "\n", ms_of(data, heap->marks.at[m].time));
        state = put_resident(t, data, process, state, heap->marks.at[m].time);
        for (size_t i = heap->marks.at[m].event; i < end; i++)
            put_event(t, heap, heap->events.at[i]);
    }
    fprintf(t->to, "c %" PRIx64 "\n", ms_of(data, report_data_end(data)));
    put_resident(t, data, process, state, UINT64_MAX);
}

/* --- The file ------------------------------------------------------------------------------------ */

static void put_head(struct track *t, const struct report_data *data)
{
    const char *word = data->start.command;

    fputs(VERSION "X", t->to);
    for (size_t at = 0; word && at < data->start.command_size; at += strlen(word + at) + 1) {
        putc(' ', t->to);
        foreign_print(t->to, word + at);
    }
    /* Readers take a free of number 0 for one of a temporary block: nothing has this number. */
    fprintf(t->to, "\nI %x 0\na 0 0\n", PAGE);
}

static void put_source(struct track *t)
{
    const struct report_model *model = t->model;
    const struct report_site *first = &model->sites.at[0];
    const struct report_data *data = model->sources[first->source].data;

    for (size_t i = 0; i < model->sites.count; i++)
        t->row_of[model->sites.at[i].site - data->heap.sites.at] = model->sites.at[i].row + 1;
    put_head(t, data);
    put_events(t, data, data->heap.heaps.at[first->site->heap].process);
}

bool report_heaptrack_write(FILE *to, const struct report_model *model)
{
    const struct report_data *data =
        model->sites.count > 0 ? model->sources[model->sites.at[0].source].data : NULL;
    struct track t = { .model = model,
                       .to = to,
                       .string_of = calloc(model->strings.all.count + 1, sizeof *t.string_of),
                       .place_of = calloc(model->locations.count + MARKS, sizeof *t.place_of),
                       .trace_of = calloc(model->stacks.count + 1, sizeof *t.trace_of),
                       .row_of = calloc((data ? data->heap.sites.count : 0) + 1, sizeof *t.row_of),
                       .size_of =
                           calloc((data ? data->heap.pairs.count : 0) + 1, sizeof *t.size_of) };

    t.failed = !t.string_of || !t.place_of || !t.trace_of || !t.row_of || !t.size_of;
    if (!t.failed && data)
        put_source(&t);
    else if (!t.failed)
        fputs(VERSION, to);
    report_index_free(&t.nodes);
    free(t.string_of);
    free(t.place_of);
    free(t.trace_of);
    free(t.row_of);
    free(t.size_of);
    return !t.failed;
}
