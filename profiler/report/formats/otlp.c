/*
 * A request is written in the order in which its parts number each other: profiles, then stacks, locations, functions,
 * mappings, attributes and strings, which are the dictionary. Its fields may come in any order.
 */
#include "profiler/report/formats/otlp.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/otlp_dictionary.h"
#include "profiler/report/formats/service.h"
#include "profiler/report/formats/types.h"
#include "profiler/report/model/parts.h"
#include "util/foreign.h"

enum { REQUEST_RESOURCE_PROFILES = 1 };
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_TIME, PROFILE_DURATION };
enum { PROFILE_PERIOD_TYPE = 5, PROFILE_PERIOD, PROFILE_ID };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_VALUES = 4 };

/* --- Samples ----------------------------------------------------------------------------------- */

/* Where a part is found again, of which process it is. */
struct entry {
    struct report_parts at;
    uint32_t source, process; /* index in its recording */
    uint32_t order;
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static uint32_t stack_of(struct report_otlp *o, const struct report_part *part)
{
    const uint32_t none = (uint32_t)o->model->stacks.count;

    return report_pprof_id(&o->stacks, part->mark                                   ? none + 1
                                       : report_has_no_stack(o->model, part->stack) ? none
                                                                                    : part->stack);
}

static void put_sample(struct report_otlp *o, struct sfb_bytes *profile,
                       const struct report_part *part, size_t type)
{
    struct report_pprof *t = &o->tables;

    report_proto_number(&t->message, SAMPLE_STACK, stack_of(o, part));
    if (part->member) {
        sfb_bytes_put_uleb(&t->part, report_otlp_number(o, "thread.id", part->member->thread->tid));
        sfb_bytes_put_uleb(&t->part,
                           report_otlp_text(o, "thread.name", part->member->thread->name));
        report_proto_message(&t->message, SAMPLE_ATTRIBUTES, &t->part);
    }
    sfb_bytes_put_uleb(&t->part, part->values[type]);
    report_proto_message(&t->message, SAMPLE_VALUES, &t->part);
    report_proto_message(profile, PROFILE_SAMPLE, &t->message);
}

/* --- Profiles ---------------------------------------------------------------------------------- */

static void put_type(struct report_otlp *o, struct sfb_bytes *profile, unsigned field,
                     const char *type, const char *unit)
{
    struct report_pprof *t = &o->tables;

    report_proto_number(&t->part, 1, report_pprof_text(t, type));
    report_proto_number(&t->part, 2, report_pprof_text(t, unit));
    report_proto_message(profile, field, &t->part);
}

static void put_fixed64(struct sfb_bytes *to, unsigned field, uint64_t value)
{
    sfb_bytes_put_uleb(to, field << 3 | 1);
    for (int i = 0; i < 8; i++)
        sfb_bytes_put_u8(to, (unsigned)(value >> 8 * i & 0xff));
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

/* Two profiles have one id if they are of one value of one process of one recording. */
static void put_id(struct sfb_bytes *profile, const struct report_data *data,
                   const struct report_process *process, size_t type)
{
    uint64_t words[2] = { 0x243f6a8885a308d3U, 0x13198a2e03707344U };
    uint8_t id[16];

    for (size_t i = 0; i < 2; i++) {
        words[i] = mixed(mixed(words[i], data->start.realtime), data->start.monotonic);
        words[i] = mixed(mixed(words[i], data->start.recorder_pid), type + 1);
        words[i] = mixed(mixed(words[i], process->pid), process->time);
        for (const char *c = data->start.host; c && *c; c++)
            words[i] = mixed(words[i], (uint8_t)*c);
        for (size_t k = 0; k < 8; k++)
            id[8 * i + k] = (uint8_t)(words[i] >> 8 * k);
    }
    report_proto_bytes(profile, PROFILE_ID, id, sizeof id);
}

static void put_period(struct report_otlp *o, struct sfb_bytes *profile,
                       const struct report_data *data)
{
    uint64_t bytes = 1;

    if (!o->model->heap) {
        put_type(o, profile, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
        report_proto_number(profile, PROFILE_PERIOD,
                            data->start.rate_hz ? 1000000000U / data->start.rate_hz : 0);
        return;
    }
    for (size_t i = 0; i < data->heap.heaps.count; i++)
        if (data->heap.heaps.at[i].rate > bytes)
            bytes = data->heap.heaps.at[i].rate;
    put_type(o, profile, PROFILE_PERIOD_TYPE, "space", "bytes");
    report_proto_number(profile, PROFILE_PERIOD, bytes);
}

static void put_profile(struct report_otlp *o, struct sfb_bytes *scope, const struct entry *entries,
                        size_t count, size_t type)
{
    const struct report_data *data = o->model->sources[entries->source].data;
    const struct report_value_type *value = &o->model->types[type];
    struct sfb_bytes profile = { .at = NULL };

    put_type(o, &profile, PROFILE_TYPE, value->type, value->unit);
    for (size_t i = 0; i < count; i++) {
        struct report_parts at = entries[i].at;
        struct report_part part;

        if (report_parts_next(&at, &part) && part.values[type] > 0)
            put_sample(o, &profile, &part, type);
    }
    put_fixed64(&profile, PROFILE_TIME, data->start.realtime);
    report_proto_number(&profile, PROFILE_DURATION, report_data_recorded(data));
    put_period(o, &profile, data);
    put_id(&profile, data, &data->processes.at[entries->process], type);
    report_proto_message(scope, 2, &profile);
    sfb_bytes_free(&profile);
}

/* --- Resources --------------------------------------------------------------------------------- */

static void put_pair(struct report_otlp *o, struct sfb_bytes *resource, const char *key,
                     const char *text, uint64_t number)
{
    struct sfb_bytes pair = { .at = NULL };
    char *printable = text ? foreign_copy(text, FOREIGN_NAME) : NULL;

    o->failed |= text && !printable;
    report_proto_bytes(&pair, 1, key, strlen(key));
    if (printable)
        report_otlp_put_text(&pair, 2, printable);
    else
        report_otlp_put_number(&pair, 2, number);
    report_proto_message(resource, 1, &pair);
    sfb_bytes_free(&pair);
    free(printable);
}

/* Labels that have names of their own in OpenTelemetry. */
static const char *attribute_of(const char *key)
{
    static const struct {
        const char *label, *attribute;
    } names[] = { { "service", "service.name" },
                  { "version", "service.version" },
                  { "env", "deployment.environment.name" } };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i].label) == 0)
            return names[i].attribute;
    return key;
}

/* What a resource says itself, and what another label says by its attribute's name: each key stands once. */
static bool is_said(const struct labels *labels, const char *key)
{
    const char *attribute = attribute_of(key);

    return strncmp(attribute, "process.", strlen("process.")) == 0 ||
           (attribute != key && labels_value(labels, attribute) != NULL);
}

static void put_labels(struct report_otlp *o, struct sfb_bytes *resource,
                       const struct labels *labels)
{
    for (const char *l = labels_next(labels, NULL); l; l = labels_next(labels, l)) {
        const char *sign = strchr(l, '=');
        char *key = strndup(l, (size_t)(sign - l));

        o->failed |= !key;
        if (key && !is_said(labels, key))
            put_pair(o, resource, attribute_of(key), sign + 1, 0);
        free(key);
    }
}

static void put_resource(struct report_otlp *o, struct sfb_bytes *out,
                         const struct report_data *data, const struct report_process *process)
{
    const char *host = data->start.host ? strchr(data->start.host, ' ') : NULL;
    char *name = host ? strndup(host + 1, strcspn(host + 1, " ")) : NULL;
    struct sfb_bytes resource = { .at = NULL };

    if (!labels_value(&data->labels, "service") && !labels_value(&data->labels, "service.name"))
        put_pair(o, &resource, "service.name",
                 report_service(data)[0] ? report_service(data) : "unknown_service", 0);
    put_labels(o, &resource, &data->labels);
    if (name && !labels_value(&data->labels, "host.name"))
        put_pair(o, &resource, "host.name", name, 0);
    put_pair(o, &resource, "process.pid", NULL, process->pid);
    put_pair(o, &resource, "process.executable.name", sfb_base_name(process->program), 0);
    put_pair(o, &resource, "process.executable.path", process->program, 0);
    report_proto_message(out, 1, &resource);
    sfb_bytes_free(&resource);
    free(name);
}

static void put_process(struct report_otlp *o, const struct entry *entries, size_t count)
{
    const struct report_data *data = o->model->sources[entries->source].data;
    struct sfb_bytes resource = { .at = NULL }, scope = { .at = NULL }, name = { .at = NULL };

    put_resource(o, &resource, data, &data->processes.at[entries->process]);
    report_proto_bytes(&name, 1, "sframe-backtrace", strlen("sframe-backtrace"));
    report_proto_bytes(&name, 2, SFB_VERSION, strlen(SFB_VERSION));
    report_proto_message(&scope, 1, &name);
    for (size_t type = 0; type < report_known_types(o->model); type++)
        put_profile(o, &scope, entries, count, type);
    report_proto_message(&resource, 2, &scope);
    report_otlp_write_field(o, REQUEST_RESOURCE_PROFILES, &resource);
    sfb_bytes_free(&name);
    sfb_bytes_free(&scope);
    sfb_bytes_free(&resource);
}

/* --- The file ---------------------------------------------------------------------------------- */

static bool put_processes(struct report_otlp *o)
{
    REPORT_ARRAY(struct entry) entries = { .count = 0 };
    struct report_parts parts = report_parts_of(o->model), before = parts;
    struct report_part part;
    bool good = true;

    for (; good && report_parts_next(&parts, &part); before = parts) {
        struct entry *entry = REPORT_NEXT(entries);

        good = entry != NULL;
        if (good)
            *entry = (struct entry){
                .at = before,
                .source = part.source,
                .process =
                    (uint32_t)(part.process - o->model->sources[part.source].data->processes.at),
                .order = (uint32_t)entries.count
            };
    }
    if (good && entries.count > 0)
        qsort(entries.at, entries.count, sizeof *entries.at, compare);
    for (size_t i = 0, end; good && i < entries.count; i = end) {
        for (end = i + 1; end < entries.count && entries.at[end].source == entries.at[i].source &&
                          entries.at[end].process == entries.at[i].process;)
            end++;
        put_process(o, &entries.at[i], end - i);
    }
    free(entries.at);
    return good;
}

static bool has_names(const struct report_model *model)
{
    for (size_t i = 0; i < model->functions.count; i++)
        if (model->functions.at[i].known &&
            report_text(model, model->modules.at[model->functions.at[i].module].path)[0])
            return true;
    return false;
}

bool report_otlp_write(FILE *to, const struct report_model *model)
{
    struct report_otlp o = { .to = to, .model = model };

    o.failed = !report_pprof_tables_begin(&o.tables, model);
    o.failed = !report_pprof_numbers_make(&o.stacks, model->stacks.count + 2) || o.failed;
    o.tables.named = has_names(model);
    if (!o.failed) {
        report_pprof_text(&o.tables, ""); /* the first one, always */
        o.failed |= !put_processes(&o);
    }
    if (!o.failed)
        report_otlp_write_dictionary(&o);
    report_pprof_end(&o.tables);
    report_pprof_numbers_free(&o.stacks);
    report_index_free(&o.attribute_index[0]);
    report_index_free(&o.attribute_index[1]);
    free(o.attributes.at);
    return !o.failed;
}
