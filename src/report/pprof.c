/*
 * A file is written in the order of its fields: samples number the locations, locations the functions, and all of them
 * the strings, which come last. Nothing is kept but the numbers.
 */
#include "report/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"
#include "report/gzip.h"
#include "report/main_module.h"
#include "report/parts.h"
#include "report/proto.h"
#include "report/summary.h"

/* Fields: profile.proto has them. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE };
enum { TIME_NANOS = 9, DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MEMORY_START, MEMORY_LIMIT, FILE_OFFSET, FILENAME, BUILD_ID };
enum { HAS_FUNCTIONS = 7, HAS_FILENAMES, HAS_LINE_NUMBERS, HAS_INLINE_FRAMES };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE, LINE_COLUMN };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

/* What stands for frames that are not there: locations and functions behind the model's own. */
static const char *const marks[] = { "[omitted]", "[truncated]", "[no stack]", "[unsampled]" };

enum { MARK_OMITTED, MARK_TRUNCATED, MARK_NO_STACK, MARK_UNSAMPLED, MARKS };

enum { PAGE = 4096 }; /* readers want whole ones */

/* Things of the model by number, in the order in which they came first; ids are from 1. */
struct numbers {
    uint32_t *id_of; /* 0: none yet */
    uint32_t *order; /* by id - 1 */
    uint32_t count;
};

/* Offsets that were asked for. */
struct extent {
    uint64_t low, high; /* the first, and the byte behind the last */
};

struct pprof {
    const struct report_model *model;
    struct report_gzip *gzip;
    struct report_proto whole, message, part; /* top level, a message in it, and one in that */
    struct numbers mappings, locations, functions;
    uint32_t *string_of; /* of each of the model: + 1 */
    struct report_strings strings;
    struct extent *extents; /* of each module */
    bool several;           /* processes */
    bool named;             /* a function of a module has a name */
    bool compares, failed;
};

/* --- Numbers ----------------------------------------------------------------------------------- */

static bool numbers_make(struct numbers *n, size_t count)
{
    n->id_of = calloc(count + 1, sizeof *n->id_of);
    n->order = calloc(count + 1, sizeof *n->order);
    return n->id_of && n->order;
}

static void numbers_free(struct numbers *n)
{
    free(n->id_of);
    free(n->order);
}

static uint32_t id_of(struct numbers *n, uint32_t thing)
{
    if (n->id_of[thing] == 0) {
        n->order[n->count] = thing;
        n->id_of[thing] = ++n->count;
    }
    return n->id_of[thing];
}

/* Of a text that is printable already. */
static uint32_t printed_text_of(struct pprof *p, const char *text)
{
    uint32_t string = 0;

    p->failed |= !report_strings_add(&p->strings, text, &string);
    return string;
}

/* Strings are valid UTF-8, whatever names are. */
static uint32_t text_of(struct pprof *p, const char *text)
{
    char *printable = foreign_copy(text, FOREIGN_NAME);
    const uint32_t string = printable ? printed_text_of(p, printable) : 0;

    p->failed |= !printable;
    free(printable);
    return string;
}

static uint32_t string_of(struct pprof *p, uint32_t string)
{
    if (p->string_of[string] == 0)
        p->string_of[string] = text_of(p, report_text(p->model, string)) + 1;
    return p->string_of[string] - 1;
}

/* What was put together goes out. */
static void flush(struct pprof *p)
{
    p->failed |= p->whole.failed;
    report_gzip_put(p->gzip, p->whole.at, p->whole.size);
    report_proto_clear(&p->whole);
}

static void put(struct pprof *p, unsigned field)
{
    report_proto_message(&p->whole, field, &p->message);
    flush(p);
}

/* --- Samples ----------------------------------------------------------------------------------- */

static void put_type(struct pprof *p, unsigned field, const struct report_value_type *type)
{
    report_proto_number(&p->message, TYPE_TYPE, text_of(p, type->type));
    report_proto_number(&p->message, TYPE_UNIT, text_of(p, type->unit));
    put(p, field);
}

static void put_label(struct pprof *p, const char *key, const char *text, uint64_t number)
{
    report_proto_number(&p->part, LABEL_KEY, text_of(p, key));
    if (text)
        report_proto_number(&p->part, LABEL_STR, text_of(p, text));
    report_proto_number(&p->part, LABEL_NUM, number);
    report_proto_message(&p->message, SAMPLE_LABEL, &p->part);
}

static void put_frame(struct pprof *p, uint32_t frame)
{
    const size_t count = p->model->locations.count;
    const uint32_t thing = frame < count                       ? frame
                           : frame == (uint32_t)REPORT_OMITTED ? (uint32_t)count + MARK_OMITTED
                                                               : (uint32_t)count + MARK_TRUNCATED;

    report_proto_value(&p->part, id_of(&p->locations, thing));
}

static void put_stack(struct pprof *p, const struct report_part *part)
{
    const struct report_model *model = p->model;
    const struct report_stack *stack;

    if (part->mark || report_has_no_stack(model, part->stack)) {
        const unsigned mark = part->mark ? MARK_UNSAMPLED : MARK_NO_STACK;

        report_proto_value(&p->part, id_of(&p->locations, (uint32_t)model->locations.count + mark));
    } else {
        stack = &model->stacks.at[part->stack];
        for (uint32_t i = 0; i < stack->count; i++)
            put_frame(p, model->frames.at[stack->at + i]);
    }
    report_proto_message(&p->message, SAMPLE_LOCATION_ID, &p->part);
}

static void put_sample(struct pprof *p, const struct report_part *part)
{
    const bool old = p->compares && p->model->sources[part->source].group == 0;
    const char *slash = strrchr(part->process->program, '/');

    put_stack(p, part);
    for (size_t i = 0; i < p->model->type_count; i++)
        report_proto_value(&p->part, old ? 0 - part->values[i] : part->values[i]);
    report_proto_message(&p->message, SAMPLE_VALUE, &p->part);
    if (report_part_thread(part)[0])
        put_label(p, "thread", report_part_thread(part), 0);
    if (part->member)
        put_label(p, "tid", NULL, part->member->thread->tid);
    if (p->several) {
        put_label(p, "process", slash ? slash + 1 : part->process->program, 0);
        put_label(p, "pid", NULL, part->process->pid);
    }
    if (old)
        put_label(p, "pprof::base", "true", 0);
    put(p, SAMPLE);
}

/* --- Places ------------------------------------------------------------------------------------ */

static void put_line(struct pprof *p, uint32_t function, uint32_t line, uint32_t column)
{
    report_proto_number(&p->part, LINE_FUNCTION_ID, id_of(&p->functions, function));
    report_proto_number(&p->part, LINE_LINE, line);
    report_proto_number(&p->part, LINE_COLUMN, column);
    report_proto_message(&p->message, LOCATION_LINE, &p->part);
}

static uint64_t address_of(const struct report_model *model, const struct report_location *l)
{
    return (l->kind == REPORT_NATIVE ? model->modules.at[l->module].start : 0) + l->offset;
}

static void put_location(struct pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_model *model = p->model;
    const size_t count = model->locations.count;
    const struct report_location *l;

    report_proto_number(&p->message, LOCATION_ID, id);
    if (thing >= count) {
        put_line(p, (uint32_t)(model->functions.count + thing - count), 0, 0);
        put(p, LOCATION);
        return;
    }
    l = &model->locations.at[thing];
    if (l->kind == REPORT_NATIVE)
        report_proto_number(&p->message, LOCATION_MAPPING_ID, id_of(&p->mappings, l->module));
    report_proto_number(&p->message, LOCATION_ADDRESS, address_of(model, l));
    /* Without a single name, names are left to who reads the file. */
    for (uint32_t i = 0; i < l->count && (p->named || l->kind != REPORT_NATIVE); i++) {
        const struct report_line *line = &model->lines.at[l->at + i];

        put_line(p, line->function, line->line, line->column);
    }
    put(p, LOCATION);
}

static void put_function(struct pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_model *model = p->model;
    const size_t count = model->functions.count;

    report_proto_number(&p->message, FUNCTION_ID, id);
    if (thing < count) {
        const struct report_function *f = &model->functions.at[thing];

        report_proto_number(&p->message, FUNCTION_NAME, string_of(p, f->name));
        report_proto_number(&p->message, FUNCTION_SYSTEM_NAME, string_of(p, f->system_name));
        report_proto_number(&p->message, FUNCTION_FILENAME, string_of(p, f->file));
    } else {
        report_proto_number(&p->message, FUNCTION_NAME, text_of(p, marks[thing - count]));
    }
    put(p, FUNCTION);
}

/* Begins with the one that most time was spent in: readers take the program that they are given for it. */
static void number_mappings(struct pprof *p)
{
    const struct report_model *model = p->model;
    const uint32_t main = report_main_module(model);

    if (main != REPORT_NONE)
        id_of(&p->mappings, main);
    for (uint32_t i = 0; i < p->locations.count; i++) {
        const uint32_t thing = p->locations.order[i];
        const struct report_location *l;
        struct extent *extent;

        if (thing >= model->locations.count)
            continue;
        l = &model->locations.at[thing];
        if (l->kind != REPORT_NATIVE)
            continue;
        id_of(&p->mappings, l->module);
        extent = &p->extents[l->module];
        if (extent->high == 0 || l->offset < extent->low)
            extent->low = l->offset;
        if (l->offset >= extent->high)
            extent->high = l->offset + 1;
    }
}

/*
 * Readers want the mapping of the segment that is code. Only the module's file has its segments. Without it, the mapping
 * begins at the first page that was asked for, with the offset that it has in most files.
 */
static struct report_code code_of(const struct pprof *p, uint32_t thing)
{
    const struct report_module *m = &p->model->modules.at[thing];
    const struct report_namer *namer = &p->model->sources[0].namer;
    const uint64_t low = m->start + p->extents[thing].low, high = m->start + p->extents[thing].high;
    const struct report_place place = { .path = report_text(p->model, m->path),
                                        .build_id = m->build_id,
                                        .build_id_size = m->build_id_size,
                                        .start = m->start,
                                        .end = m->end };
    struct report_code code;
    uint64_t end = high > m->end ? high : m->end;

    if (namer->code && namer->code(namer->user, &place, &code) && code.start <= low &&
        code.end >= high)
        return code;
    /* Of a damaged list of modules. */
    if (high < low || end > UINT64_MAX - PAGE)
        return (struct report_code){ .start = 0, .end = UINT64_MAX };
    end += PAGE - 1;
    return (struct report_code){ .start = low / PAGE * PAGE,
                                 .end = end / PAGE * PAGE,
                                 .offset = p->extents[thing].low / PAGE * PAGE };
}

static void put_mapping(struct pprof *p, uint32_t id, uint32_t thing)
{
    const struct report_module *m = &p->model->modules.at[thing];
    const struct report_code code = code_of(p, thing);
    char build_id[2 * sizeof m->build_id + 1] = "";

    for (uint32_t i = 0; i < m->build_id_size; i++)
        snprintf(build_id + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
    report_proto_number(&p->message, MAPPING_ID, id);
    report_proto_number(&p->message, MEMORY_START, code.start);
    report_proto_number(&p->message, MEMORY_LIMIT, code.end);
    report_proto_number(&p->message, FILE_OFFSET, code.offset);
    report_proto_number(&p->message, FILENAME, string_of(p, m->path));
    report_proto_number(&p->message, BUILD_ID, text_of(p, build_id));
    report_proto_number(&p->message, HAS_FUNCTIONS, m->has_functions);
    report_proto_number(&p->message, HAS_FILENAMES, m->has_files);
    report_proto_number(&p->message, HAS_LINE_NUMBERS, m->has_lines);
    report_proto_number(&p->message, HAS_INLINE_FRAMES, m->has_inlines);
    put(p, MAPPING);
}

/* --- The file ---------------------------------------------------------------------------------- */

/* When recording began, and for how long: of several one after the other, as pprof merges files. */
static void put_times(struct pprof *p)
{
    const struct report_model *model = p->model;
    uint64_t time = UINT64_MAX, duration = 0;
    uint32_t rate = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        if (data->start.realtime < time)
            time = data->start.realtime;
        duration += report_data_end(data) - data->start.monotonic;
        rate = rate ? rate : data->start.rate_hz;
    }
    report_proto_number(&p->whole, TIME_NANOS, model->source_count ? time : 0);
    report_proto_number(&p->whole, DURATION_NANOS, duration);
    put_type(p, PERIOD_TYPE, &model->types[model->main]);
    report_proto_number(&p->whole, PERIOD, rate ? 1000000000U / rate : 0);
}

/* What was recorded and what is missing, a line each: `pprof -comments` shows it. */
static void put_comments(struct pprof *p)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    p->failed |= !to;
    if (!to)
        return;
    p->failed |= !report_summary_write(to, p->model);
    if (fclose(to) != 0)
        p->failed = true;
    for (char *line = text, *end; !p->failed && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        report_proto_number(&p->whole, COMMENT, printed_text_of(p, line));
    }
    free(text);
}

static void put_strings(struct pprof *p)
{
    for (size_t i = 0; i < p->strings.all.count; i++) {
        const char *text = p->strings.all.at[i];

        report_proto_bytes(&p->whole, STRING_TABLE, text, strlen(text));
        flush(p);
    }
}

static void put_all(struct pprof *p)
{
    struct report_parts parts = report_parts_of(p->model);
    struct report_part part;

    text_of(p, ""); /* the first one, always */
    for (size_t i = 0; i < p->model->type_count; i++)
        put_type(p, SAMPLE_TYPE, &p->model->types[i]);
    while (!p->failed && report_parts_next(&parts, &part))
        put_sample(p, &part);
    number_mappings(p);
    for (uint32_t i = 0; !p->failed && i < p->mappings.count; i++)
        put_mapping(p, i + 1, p->mappings.order[i]);
    for (uint32_t i = 0; !p->failed && i < p->locations.count; i++)
        put_location(p, i + 1, p->locations.order[i]);
    for (uint32_t i = 0; !p->failed && i < p->functions.count; i++)
        put_function(p, i + 1, p->functions.order[i]);
    put_times(p);
    put_comments(p);
    report_proto_number(&p->whole, DEFAULT_SAMPLE_TYPE,
                        text_of(p, p->model->types[p->model->main].type));
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
    struct pprof p = { .model = model,
                       .gzip = report_gzip_open(to),
                       .string_of = calloc(model->strings.all.count + 1, sizeof *p.string_of),
                       .extents = calloc(model->modules.count + 1, sizeof *p.extents),
                       .named = has_names(model),
                       .compares = report_model_compares(model) };

    for (size_t i = 1; i < model->members.count; i++)
        p.several |= model->members.at[i].process->pid != model->members.at[0].process->pid;
    p.failed = !numbers_make(&p.mappings, model->modules.count) ||
               !numbers_make(&p.locations, model->locations.count + MARKS) ||
               !numbers_make(&p.functions, model->functions.count + MARKS) || !p.gzip ||
               !p.string_of || !p.extents;
    if (!p.failed)
        put_all(&p);
    report_gzip_close(p.gzip);
    report_proto_free(&p.whole);
    report_proto_free(&p.message);
    report_proto_free(&p.part);
    numbers_free(&p.mappings);
    numbers_free(&p.locations);
    numbers_free(&p.functions);
    report_strings_free(&p.strings);
    free(p.string_of);
    free(p.extents);
    return !p.failed;
}
