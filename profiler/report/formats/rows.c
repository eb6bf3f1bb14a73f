#include "profiler/report/formats/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/formats/service.h"
#include "profiler/report/model/parts.h"
#include "util/base_name.h"
#include "util/hex_text.h"

/* What lines of one process begin with: the same for all of them. */
struct head {
    uint32_t source;
    const struct report_process *process;
    char *text;
};

static void put_text(FILE *to, const char *key, const char *text)
{
    fprintf(to, "\"%s\":", key);
    report_json_text(to, text);
    putc(',', to);
}

/* RFC 3339, in UTC. */
static void put_time(FILE *to, uint64_t realtime)
{
    const time_t when = (time_t)(realtime / 1000000000U);
    char date[64] = "";
    struct tm tm;

    if (gmtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(to, "{\"time\":\"%s.%03uZ\",", date, (unsigned)(realtime / 1000000U % 1000));
}

static void put_build_id(FILE *to, const struct report_module *module)
{
    char text[2 * sizeof module->build_id + 1] = "";

    if (module)
        sfb_hex_text(text, module->build_id, module->build_id_size);
    fprintf(to, "\"%s\"", text);
}

/* The module of a program; NULL: no sample was in it. */
static const struct report_module *program_of(const struct report_model *model, const char *path)
{
    for (size_t i = 0; i < model->modules.count; i++)
        if (strcmp(report_text(model, model->modules.at[i].path), path) == 0)
            return &model->modules.at[i];
    return NULL;
}

/* The second word of `uname -a` is the machine's name. */
static void put_host(FILE *to, const char *uname)
{
    const char *blank = strchr(uname, ' ');
    const char *from = blank ? blank + 1 : uname;
    char *name = strndup(from, strcspn(from, " "));

    put_text(to, "host", name ? name : "");
    free(name);
}

/* All but the service: "version" is always there. */
static void put_labels(FILE *to, const struct labels *labels)
{
    const char *version = labels_value(labels, "version"), *comma = "";

    put_text(to, "version", version ? version : "");
    fputs("\"labels\":{", to);
    for (const char *l = labels_next(labels, NULL); l; l = labels_next(labels, l)) {
        const char *sign = strchr(l, '=');

        if (strncmp(l, "service=", 8) == 0 || strncmp(l, "version=", 8) == 0)
            continue;
        fprintf(to, "%s\"%.*s\":", comma, (int)(sign - l), l);
        report_json_text(to, sign + 1);
        comma = ",";
    }
    fputs("},", to);
}

/* @return false: no memory */
static bool make_head(struct head *head, const struct report_model *model,
                      const struct report_part *part)
{
    struct report_way way = { .text = NULL };
    const struct report_source *source = &model->sources[part->source];
    const struct sfb_recording_start *start = &source->data->start;
    size_t size;
    FILE *to;

    if (head->text && head->source == part->source && head->process == part->process)
        return true;
    free(head->text);
    *head = (struct head){ .source = part->source, .process = part->process };
    to = open_memstream(&head->text, &size);
    if (!to)
        return false;
    put_time(to, start->realtime);
    if (report_model_compares(model))
        fprintf(to, "\"group\":\"%s\",", source->group == 0 ? "old" : "new");
    put_host(to, start->host ? start->host : "");
    put_text(to, "service", report_service(source->data));
    put_labels(to, &source->data->labels);
    fprintf(to, "\"pid\":%" PRIu32 ",", part->process->pid);
    put_text(to, "program", sfb_base_name(part->process->program));
    fputs("\"build_id\":", to);
    put_build_id(to, program_of(model, part->process->program));
    putc(',', to);
    put_text(to, "way", report_part_way(&way, model, part));
    return fclose(to) == 0;
}

/* --- Stacks ------------------------------------------------------------------------------------ */

enum list { NAMES, FILES, MODULES, BUILD_IDS, OFFSETS, LISTS };

static const char *const keys[] = { "stack", "file", "module", "module_build_id", "offset" };

static void put_file(FILE *to, const struct report_model *model, const struct report_line *line)
{
    const char *file = line ? report_text(model, line->file) : "";
    char *text = NULL;

    if (file[0] && line->line > 0 && asprintf(&text, "%s:%" PRIu32, file, line->line) < 0)
        text = NULL;
    report_json_text(to, text ? text : file);
    free(text);
}

static void put_element(FILE *to, const struct report_model *model, enum list list,
                        const struct report_step *step)
{
    const struct report_location *location =
        step->line ? &model->locations.at[step->location] : NULL;
    const struct report_module *module = location ? &model->modules.at[location->module] : NULL;
    const bool is_named = step->line && model->functions.at[step->line->function].known;

    switch (list) {
    case NAMES:
        report_json_text(to, step->line ? report_name(model, step->line->function) : step->mark);
        break;
    case FILES: put_file(to, model, step->line); break;
    case MODULES: report_json_text(to, module ? report_text(model, module->name) : ""); break;
    case BUILD_IDS: put_build_id(to, is_named ? NULL : module); break;
    case OFFSETS:
        /* Readers have signed numbers. What is larger is no offset in a module, and its name says it. */
        if (location && report_location_is_code(model, location) && location->offset <= INT64_MAX)
            fprintf(to, "%" PRIu64, location->offset);
        else
            fputs("null", to);
        break;
    case LISTS: break;
    }
}

static void put_list(FILE *to, const struct report_model *model, enum list list,
                     const struct report_part *part)
{
    struct report_steps steps = report_steps_of(model, part->stack);
    struct report_step step;

    fprintf(to, ",\"%s\":[", keys[list]);
    for (bool first = true; report_steps_next(&steps, &step); first = false) {
        if (!first)
            putc(',', to);
        if (part->mark)
            step.mark = part->mark;
        put_element(to, model, list, &step);
    }
    putc(']', to);
}

/* --- Lines ------------------------------------------------------------------------------------- */

static void put_line(FILE *to, const struct report_model *model, const struct head *head,
                     const struct report_part *part, size_t type)
{
    fputs(head->text, to);
    if (part->member)
        fprintf(to, "\"tid\":%" PRIu32 ",", part->member->thread->tid);
    else
        fputs("\"tid\":null,", to);
    put_text(to, "thread", report_part_thread(part));
    put_text(to, "kind", model->types[type].type);
    put_text(to, "unit", model->types[type].unit);
    fprintf(to, "\"count\":%" PRIu64 ",\"value\":%" PRIu64, part->values[type - 1],
            part->values[type]);
    if (model->estimated)
        fprintf(to, ",\"error\":%.0f", sqrt(part->variances[type]));
    for (enum list list = NAMES; list < LISTS; list++)
        put_list(to, model, list, part);
    fputs("}\n", to);
}

bool report_rows_write(FILE *to, const struct report_model *model)
{
    struct report_parts parts = report_parts_of(model);
    struct head head = { .text = NULL };
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part)) {
        good = make_head(&head, model, &part);
        /* How many, and how much: of a heap, of the value that was chosen. */
        const size_t type = model->main | 1;

        if (good && (part.values[type - 1] > 0 || part.values[type] > 0))
            put_line(to, model, &head, &part, type);
    }
    free(head.text);
    return good;
}
