#include "profiler/report/formats/otlp_dictionary.h"

#include <string.h>

#include "profiler/report/formats/code_span.h"
#include "profiler/report/formats/frames.h"
#include "util/hex_text.h"

/* Field numbers of profiles.proto; pprof_file.h has pprof's. */
enum { REQUEST_DICTIONARY = 2 };
enum {
    TABLE_MAPPING = 1,
    TABLE_LOCATION,
    TABLE_FUNCTION,
    TABLE_LINK,
    TABLE_STRING,
    TABLE_ATTRIBUTE
};
enum { TABLE_STACK = 7 };
enum { MAP_START = 1, MAP_LIMIT, MAP_OFFSET, MAP_FILENAME, MAP_ATTRIBUTES };
enum { PLACE_MAPPING = 1, PLACE_ADDRESS, PLACE_LINES, PLACE_ATTRIBUTES };
enum { CODE_NAME = 1, CODE_SYSTEM_NAME, CODE_FILENAME };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };

/* The message in the making is done. */
static void put_entry(struct report_otlp *o, unsigned table)
{
    report_proto_message(&o->tables.whole, table, &o->tables.message);
}

/* A packed list of one number. */
static void put_one(struct report_otlp *o, unsigned field, uint32_t number)
{
    sfb_bytes_put_uleb(&o->tables.part, number);
    report_proto_message(&o->tables.message, field, &o->tables.part);
}

/* --- Stacks ------------------------------------------------------------------------------------ */

static uint32_t mark_id(struct report_otlp *o, enum report_frame_mark mark)
{
    return report_pprof_id(&o->tables.locations, (uint32_t)o->model->locations.count + mark);
}

/* @param frame  of a stack: a location, or enum report_mark */
static uint32_t frame_id(struct report_otlp *o, uint32_t frame)
{
    if (frame < o->model->locations.count)
        return report_pprof_id(&o->tables.locations, frame);
    if (frame == (uint32_t)REPORT_OMITTED)
        return mark_id(o, REPORT_FRAME_OMITTED);
    return mark_id(o,
                   frame == (uint32_t)REPORT_AWAIT ? REPORT_FRAME_AWAIT : REPORT_FRAME_TRUNCATED);
}

static void put_stack(struct report_otlp *o, uint32_t thing)
{
    const struct report_model *model = o->model;
    const struct report_stack *stack;
    const size_t count = model->stacks.count;

    if (thing >= count) {
        put_one(o, 1, mark_id(o, thing == count ? REPORT_FRAME_NO_STACK : REPORT_FRAME_UNSAMPLED));
        put_entry(o, TABLE_STACK);
        return;
    }
    stack = &model->stacks.at[thing];
    for (uint32_t i = 0; i < stack->count; i++)
        sfb_bytes_put_uleb(&o->tables.part, frame_id(o, model->frames.at[stack->at + i]));
    report_proto_message(&o->tables.message, 1, &o->tables.part);
    put_entry(o, TABLE_STACK);
}

/* --- Locations --------------------------------------------------------------------------------- */

static void put_line(struct report_otlp *o, uint32_t function, uint32_t line, uint32_t column)
{
    report_proto_number(&o->tables.part, 1, report_pprof_id(&o->tables.functions, function));
    report_proto_number(&o->tables.part, 2, line);
    report_proto_number(&o->tables.part, 3, column);
    report_proto_message(&o->tables.message, PLACE_LINES, &o->tables.part);
}

static void note_extent(struct report_otlp *o, const struct report_location *l)
{
    struct report_pprof_extent *extent = &o->tables.extents[l->module];

    if (extent->high == 0 || l->offset < extent->low)
        extent->low = l->offset;
    if (l->offset >= extent->high)
        extent->high = l->offset + 1;
}

static void put_location(struct report_otlp *o, uint32_t thing)
{
    const struct report_model *model = o->model;
    const size_t count = model->locations.count;
    const struct report_location *l;

    if (thing >= count) {
        put_line(o, (uint32_t)(model->functions.count + thing - count), 0, 0);
        put_entry(o, TABLE_LOCATION);
        return;
    }
    l = &model->locations.at[thing];
    if (l->kind == REPORT_NATIVE) {
        note_extent(o, l);
        report_proto_number(&o->tables.message, PLACE_MAPPING,
                            report_pprof_id(&o->tables.mappings, l->module));
    }
    report_proto_number(&o->tables.message, PLACE_ADDRESS, report_location_address(model, l));
    for (uint32_t i = 0; i < l->count && (o->tables.named || l->kind != REPORT_NATIVE); i++) {
        const struct report_line *line = &model->lines.at[l->at + i];

        put_line(o, line->function, line->line, line->column);
    }
    if (l->kind == REPORT_NATIVE)
        put_one(o, PLACE_ATTRIBUTES, report_otlp_text(o, "profile.frame.type", "native"));
    put_entry(o, TABLE_LOCATION);
}

static void put_function(struct report_otlp *o, uint32_t thing)
{
    const struct report_model *model = o->model;
    struct report_pprof *t = &o->tables;

    if (thing < model->functions.count) {
        const struct report_function *f = &model->functions.at[thing];

        report_proto_number(&t->message, CODE_NAME, report_pprof_string(t, f->name));
        report_proto_number(&t->message, CODE_SYSTEM_NAME, report_pprof_string(t, f->system_name));
        report_proto_number(&t->message, CODE_FILENAME, report_pprof_string(t, f->file));
    } else {
        report_proto_number(&t->message, CODE_NAME,
                            report_pprof_text(t, report_frame_name(model, thing)));
    }
    put_entry(o, TABLE_FUNCTION);
}

static void put_mapping(struct report_otlp *o, uint32_t thing)
{
    struct report_pprof *t = &o->tables;
    const struct report_module *m = &o->model->modules.at[thing];
    const struct report_code code =
        report_code_of(o->model, thing, t->extents[thing].low, t->extents[thing].high);
    char build_id[2 * sizeof m->build_id + 1];

    sfb_hex_text(build_id, m->build_id, m->build_id_size);
    report_proto_number(&t->message, MAP_START, code.start);
    report_proto_number(&t->message, MAP_LIMIT, code.end);
    report_proto_number(&t->message, MAP_OFFSET, code.offset);
    report_proto_number(&t->message, MAP_FILENAME, report_pprof_string(t, m->path));
    if (build_id[0])
        put_one(o, MAP_ATTRIBUTES,
                report_otlp_text(o, "process.executable.build_id.gnu", build_id));
    put_entry(o, TABLE_MAPPING);
}

/* --- All of it --------------------------------------------------------------------------------- */

static void put_attribute(struct report_otlp *o, const struct report_otlp_attribute *a)
{
    struct report_pprof *t = &o->tables;

    report_proto_number(&t->message, ATTRIBUTE_KEY, a->key);
    if (a->string != REPORT_NONE)
        report_otlp_put_text(&t->message, ATTRIBUTE_VALUE, t->strings.all.at[a->string]);
    else
        report_otlp_put_number(&t->message, ATTRIBUTE_VALUE, a->number);
    put_entry(o, TABLE_ATTRIBUTE);
}

/* A table: its zero value, then what was numbered, which may go on meanwhile. */
static void put_table(struct report_otlp *o, unsigned table, const struct report_pprof_numbers *n,
                      void (*put)(struct report_otlp *, uint32_t))
{
    put_entry(o, table);
    for (uint32_t i = 0; !o->failed && i < n->count; i++)
        put(o, n->order[i]);
}

void report_otlp_write_dictionary(struct report_otlp *o)
{
    struct report_pprof *t = &o->tables;

    put_table(o, TABLE_STACK, &o->stacks, put_stack);
    put_table(o, TABLE_LOCATION, &t->locations, put_location);
    put_table(o, TABLE_FUNCTION, &t->functions, put_function);
    put_table(o, TABLE_MAPPING, &t->mappings, put_mapping);
    put_entry(o, TABLE_LINK);
    put_entry(o, TABLE_ATTRIBUTE);
    for (size_t i = 0; !o->failed && i < o->attributes.count; i++)
        put_attribute(o, &o->attributes.at[i]);
    for (size_t i = 0; i < t->strings.all.count; i++)
        report_proto_bytes(&t->whole, TABLE_STRING, t->strings.all.at[i],
                           strlen(t->strings.all.at[i]));
    report_otlp_write_field(o, REQUEST_DICTIONARY, &t->whole);
}
