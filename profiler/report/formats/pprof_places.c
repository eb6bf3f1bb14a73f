#include "profiler/report/formats/pprof_places.h"

#include <stdio.h>

#include "profiler/report/formats/code_span.h"
#include "profiler/report/formats/main_module.h"
#include "util/hex_text.h"

/* What stands for frames that are not there: locations and functions behind the model's own. */
static const char *const marks[] = { "[omitted]", "[truncated]", "[no stack]", "[unsampled]",
                                     "[await]" };

static void put_line(struct report_pprof *p, uint32_t function, uint32_t line, uint32_t column)
{
    report_proto_number(&p->part, LINE_FUNCTION_ID, report_pprof_id(&p->functions, function));
    report_proto_number(&p->part, LINE_LINE, line);
    report_proto_number(&p->part, LINE_COLUMN, column);
    report_proto_message(&p->message, LOCATION_LINE, &p->part);
}

static void put_location(struct report_pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_model *model = p->model;
    const size_t count = model->locations.count;
    const struct report_location *l;

    report_proto_number(&p->message, LOCATION_ID, id);
    if (thing >= count) {
        put_line(p, (uint32_t)(model->functions.count + thing - count), 0, 0);
        report_pprof_put(p, LOCATION);
        return;
    }
    l = &model->locations.at[thing];
    if (l->kind == REPORT_NATIVE)
        report_proto_number(&p->message, LOCATION_MAPPING_ID,
                            report_pprof_id(&p->mappings, l->module));
    report_proto_number(&p->message, LOCATION_ADDRESS, report_location_address(model, l));
    /* If the model has no name at all, the reader of the file looks for names. */
    for (uint32_t i = 0; i < l->count && (p->named || l->kind != REPORT_NATIVE); i++) {
        const struct report_line *line = &model->lines.at[l->at + i];

        put_line(p, line->function, line->line, line->column);
    }
    report_pprof_put(p, LOCATION);
}

static void put_function(struct report_pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_model *model = p->model;
    const size_t count = model->functions.count;

    report_proto_number(&p->message, FUNCTION_ID, id);
    if (thing < count) {
        const struct report_function *f = &model->functions.at[thing];

        report_proto_number(&p->message, FUNCTION_NAME, report_pprof_string(p, f->name));
        report_proto_number(&p->message, FUNCTION_SYSTEM_NAME,
                            report_pprof_string(p, f->system_name));
        report_proto_number(&p->message, FUNCTION_FILENAME, report_pprof_string(p, f->file));
    } else {
        report_proto_number(&p->message, FUNCTION_NAME, report_pprof_text(p, marks[thing - count]));
    }
    report_pprof_put(p, FUNCTION);
}

/* Begins with the one that most time was spent in: readers take the program that they are given for it. */
static void number_mappings(struct report_pprof *p)
{
    const struct report_model *model = p->model;
    const uint32_t main = report_main_module(model);

    if (main != REPORT_NONE)
        report_pprof_id(&p->mappings, main);
    for (uint32_t i = 0; i < p->locations.count; i++) {
        const uint32_t thing = p->locations.order[i];
        const struct report_location *l;
        struct report_pprof_extent *extent;

        if (thing >= model->locations.count)
            continue;
        l = &model->locations.at[thing];
        if (l->kind != REPORT_NATIVE)
            continue;
        report_pprof_id(&p->mappings, l->module);
        extent = &p->extents[l->module];
        if (extent->high == 0 || l->offset < extent->low)
            extent->low = l->offset;
        if (l->offset >= extent->high)
            extent->high = l->offset + 1;
    }
}

static void put_mapping(struct report_pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_module *m = &p->model->modules.at[thing];
    const struct report_code code =
        report_code_of(p->model, thing, p->extents[thing].low, p->extents[thing].high);
    char build_id[2 * sizeof m->build_id + 1];

    sfb_hex_text(build_id, m->build_id, m->build_id_size);
    report_proto_number(&p->message, MAPPING_ID, id);
    report_proto_number(&p->message, MEMORY_START, code.start);
    report_proto_number(&p->message, MEMORY_LIMIT, code.end);
    report_proto_number(&p->message, FILE_OFFSET, code.offset);
    report_proto_number(&p->message, FILENAME, report_pprof_string(p, m->path));
    report_proto_number(&p->message, BUILD_ID, report_pprof_text(p, build_id));
    report_proto_number(&p->message, HAS_FUNCTIONS, m->has_functions);
    report_proto_number(&p->message, HAS_FILENAMES, m->has_files);
    report_proto_number(&p->message, HAS_LINE_NUMBERS, m->has_lines);
    report_proto_number(&p->message, HAS_INLINE_FRAMES, m->has_inlines);
    report_pprof_put(p, MAPPING);
}

void report_pprof_put_places(struct report_pprof *p)
{
    number_mappings(p);
    for (uint32_t i = 0; !p->failed && i < p->mappings.count; i++)
        put_mapping(p, i + 1, p->mappings.order[i]);
    for (uint32_t i = 0; !p->failed && i < p->locations.count; i++)
        put_location(p, i + 1, p->locations.order[i]);
    for (uint32_t i = 0; !p->failed && i < p->functions.count; i++)
        put_function(p, i + 1, p->functions.order[i]);
}
