/*
 * A file is written in the order of its fields: samples number the locations, locations the functions, and all of them
 * the strings, which come last. Nothing is kept but the numbers.
 */
#include "profiler/report/formats/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/pprof_places.h"
#include "profiler/report/formats/service.h"
#include "profiler/report/formats/types.h"
#include "profiler/report/model/parts.h"
#include "profiler/report/text/summary.h"
#include "util/base_name.h"

/* --- Samples ----------------------------------------------------------------------------------- */

static void put_type(struct report_pprof *p, unsigned field, const struct report_value_type *type)
{
    report_proto_number(&p->message, TYPE_TYPE, report_pprof_text(p, type->type));
    report_proto_number(&p->message, TYPE_UNIT, report_pprof_text(p, type->unit));
    report_pprof_put(p, field);
}

static void put_label(struct report_pprof *p, const char *key, const char *text, uint64_t number)
{
    report_proto_number(&p->part, LABEL_KEY, report_pprof_text(p, key));
    if (text)
        report_proto_number(&p->part, LABEL_STR, report_pprof_text(p, text));
    report_proto_number(&p->part, LABEL_NUM, number);
    report_proto_message(&p->message, SAMPLE_LABEL, &p->part);
}

/* Keys that a sample has of its own: each has one value. */
static bool is_own(const char *key)
{
    static const char *const own[] = { "thread", "tid", "process", "pid", "program", "way" };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(key, own[i]) == 0)
            return true;
    return false;
}

/* What is said of the recording and the program stands at each sample: files are merged. */
static void put_origin(struct report_pprof *p, const struct report_part *part)
{
    const struct report_data *data = p->model->sources[part->source].data;
    const char *way = report_part_way(&p->way, p->model, part);

    if (way[0])
        put_label(p, "way", way, 0);
    if (part->process->program[0])
        put_label(p, "program", sfb_base_name(part->process->program), 0);
    if (!labels_value(&data->labels, "service") && report_service(data)[0])
        put_label(p, "service", report_service(data), 0);
    for (const char *l = labels_next(&data->labels, NULL); l; l = labels_next(&data->labels, l)) {
        const char *sign = strchr(l, '=');
        char *key = strndup(l, (size_t)(sign - l));

        p->failed |= !key;
        if (key && sign[1] && !is_own(key))
            put_label(p, key, sign + 1, 0);
        free(key);
    }
}

static void put_frame(struct report_pprof *p, uint32_t frame)
{
    const size_t count = p->model->locations.count;
    const uint32_t thing = frame < count                       ? frame
                           : frame == (uint32_t)REPORT_OMITTED ? (uint32_t)count + MARK_OMITTED
                           : frame == (uint32_t)REPORT_AWAIT   ? (uint32_t)count + MARK_AWAIT
                                                               : (uint32_t)count + MARK_TRUNCATED;

    sfb_bytes_put_uleb(&p->part, report_pprof_id(&p->locations, thing));
}

static void put_stack(struct report_pprof *p, const struct report_part *part)
{
    const struct report_model *model = p->model;
    const struct report_stack *stack;

    if (part->mark || report_has_no_stack(model, part->stack)) {
        const unsigned mark = part->mark ? MARK_UNSAMPLED : MARK_NO_STACK;

        sfb_bytes_put_uleb(&p->part,
                           report_pprof_id(&p->locations, (uint32_t)model->locations.count + mark));
    } else {
        stack = &model->stacks.at[part->stack];
        for (uint32_t i = 0; i < stack->count; i++)
            put_frame(p, model->frames.at[stack->at + i]);
    }
    report_proto_message(&p->message, SAMPLE_LOCATION_ID, &p->part);
}

static void put_sample(struct report_pprof *p, const struct report_part *part)
{
    const bool old = p->compares && p->model->sources[part->source].group == 0;

    put_stack(p, part);
    for (size_t i = 0; i < report_known_types(p->model); i++)
        sfb_bytes_put_uleb(&p->part, old ? 0 - part->values[i] : part->values[i]);
    report_proto_message(&p->message, SAMPLE_VALUE, &p->part);
    if (report_part_thread(part)[0])
        put_label(p, "thread", report_part_thread(part), 0);
    if (part->member)
        put_label(p, "tid", NULL, part->member->thread->tid);
    put_origin(p, part);
    if (p->several) {
        put_label(p, "process", sfb_base_name(part->process->program), 0);
        put_label(p, "pid", NULL, part->process->pid);
    }
    if (old)
        put_label(p, "pprof::base", "true", 0);
    report_pprof_put(p, SAMPLE);
}

/* --- The file ---------------------------------------------------------------------------------- */

/* The largest of all heaps, as Go has it: 1 is every allocation. Values are what samples stand for. */
static uint64_t bytes_between_samples(const struct report_model *model)
{
    uint64_t bytes = 1;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_heap_data *heap = &model->sources[i].data->heap;

        for (size_t k = 0; k < heap->heaps.count; k++)
            if (heap->heaps.at[k].rate > bytes)
                bytes = heap->heaps.at[k].rate;
    }
    return bytes;
}

/* When recording began, and for how long: of several one after the other, as pprof merges files. */
static void put_times(struct report_pprof *p)
{
    const struct report_model *model = p->model;
    uint64_t time = UINT64_MAX, duration = 0;
    uint32_t rate = 0; /* a second */

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        if (data->start.realtime < time)
            time = data->start.realtime;
        duration += report_data_recorded(data);
        rate = rate ? rate : data->start.rate_hz;
    }
    report_proto_number(&p->whole, TIME_NANOS, model->source_count ? time : 0);
    report_proto_number(&p->whole, DURATION_NANOS, duration);
    if (model->heap) {
        put_type(p, PERIOD_TYPE, &(struct report_value_type){ "space", "bytes" });
        report_proto_number(&p->whole, PERIOD, bytes_between_samples(model));
        return;
    }
    put_type(p, PERIOD_TYPE, &model->types[model->main]);
    report_proto_number(&p->whole, PERIOD, rate ? 1000000000U / rate : 0);
}

/* What was recorded and what is missing, a line each: `pprof -comments` shows it. */
static void put_comments(struct report_pprof *p)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    p->failed |= !to;
    if (!to)
        return;
    p->failed |= !report_summary_write(to, p->model, REPORT_DETAIL_ALL);
    if (fclose(to) != 0)
        p->failed = true;
    for (char *line = text, *end; !p->failed && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        report_proto_number(&p->whole, COMMENT, report_pprof_printed(p, line));
    }
    free(text);
}

static void put_strings(struct report_pprof *p)
{
    for (size_t i = 0; i < p->strings.all.count; i++) {
        const char *text = p->strings.all.at[i];

        report_proto_bytes(&p->whole, STRING_TABLE, text, strlen(text));
        report_pprof_flush(p);
    }
}

static void put_all(struct report_pprof *p)
{
    struct report_parts parts = report_parts_of(p->model);
    struct report_part part;

    report_pprof_text(p, ""); /* the first one, always */
    for (size_t i = 0; i < report_known_types(p->model); i++)
        put_type(p, SAMPLE_TYPE, &p->model->types[i]);
    while (!p->failed && report_parts_next(&parts, &part))
        put_sample(p, &part);
    report_pprof_put_places(p);
    put_times(p);
    put_comments(p);
    report_proto_number(&p->whole, DEFAULT_SAMPLE_TYPE,
                        report_pprof_text(p, p->model->types[p->model->main].type));
    put_strings(p);
}

static bool has_names(const struct report_model *model)
{
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct report_function *f = &model->functions.at[i];

        if (f->known && report_text(model, model->modules.at[f->module].path)[0])
            return true;
    }
    return false;
}

bool report_pprof_write(FILE *to, const struct report_model *model)
{
    struct report_gzip *gzip = report_gzip_open(to);
    struct report_pprof p;

    report_pprof_begin(&p, gzip, model);
    p.named = has_names(model);
    p.compares = report_model_compares(model);
    for (size_t i = 1; i < model->members.count; i++)
        p.several |= model->members.at[i].process->pid != model->members.at[0].process->pid;
    if (!p.failed)
        put_all(&p);
    report_gzip_close(gzip);
    report_pprof_end(&p);
    return !p.failed;
}
