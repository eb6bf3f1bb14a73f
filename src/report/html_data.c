#include "report/html_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/summary.h"

struct writer {
    FILE *to;
    const struct report_model *model;
    const struct html_tree *tree;
    struct report_strings strings; /* of the page: only what is used */
    bool failed;                   /* no memory */
};

/* --- Arrays ------------------------------------------------------------------------------------ */

static void put_text(struct writer *w, const char *text)
{
    uint32_t number = 0;

    w->failed |= !report_strings_add(&w->strings, text, &number);
    fprintf(w->to, "%" PRIu32, number);
}

/* `"name":[`; then elements, each behind a comma but the first; then `]`. */
static void begin_array(struct writer *w, const char *name)
{
    fprintf(w->to, "\"%s\":[", name);
}

static void next_element(struct writer *w, size_t i)
{
    if (i > 0)
        fputc(',', w->to);
}

static void put_number(struct writer *w, size_t i, uint64_t number)
{
    next_element(w, i);
    fprintf(w->to, "%" PRIu64, number);
}

static void end_array(struct writer *w, const char *next)
{
    fprintf(w->to, "]%s", next);
}

/* --- What was recorded ------------------------------------------------------------------------- */

/* A text that is escaped already, as reports are: to escape it again would double its backslashes. */
static void put_escaped(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', to);
        putc(*text, to);
    }
    putc('"', to);
}

/* The first lines are the terminal's. */
static void put_summary(struct writer *w)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0, i = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to || !report_summary_write(to, w->model))
        w->failed = true;
    if (!to || fclose(to) != 0) {
        w->failed = true;
        free(text);
        return;
    }
    begin_array(w, "summary");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        next_element(w, i++);
        put_escaped(w->to, line);
    }
    end_array(w, ",\n");
    free(text);
}

static void put_types(struct writer *w)
{
    begin_array(w, "types");
    for (size_t i = 0; i < w->model->type_count; i++) {
        next_element(w, i);
        fputs("{\"type\":", w->to);
        report_json_text(w->to, w->model->types[i].type);
        fputs(",\"unit\":", w->to);
        report_json_text(w->to, w->model->types[i].unit);
        fputc('}', w->to);
    }
    end_array(w, ",\n");
    fprintf(w->to, "\"main\":%zu,\n", w->model->main);
}

static bool compares(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].group > 0)
            return true;
    return false;
}

static void put_threads(struct writer *w)
{
    const struct report_model *model = w->model;

    fputs("\"threads\":{", w->to);
    begin_array(w, "name");
    for (size_t i = 0; i < model->members.count; i++) {
        next_element(w, i);
        put_text(w, model->members.at[i].thread->name);
    }
    end_array(w, ",");
    begin_array(w, "tid");
    for (size_t i = 0; i < model->members.count; i++)
        put_number(w, i, model->members.at[i].thread->tid);
    end_array(w, ",");
    begin_array(w, "group");
    for (size_t i = 0; i < model->members.count; i++)
        put_number(w, i, model->sources[model->members.at[i].source].group);
    end_array(w, ",");
    begin_array(w, "pid");
    for (size_t i = 0; i < model->members.count; i++)
        put_number(w, i, model->members.at[i].process->pid);
    end_array(w, ",");
    begin_array(w, "program");
    for (size_t i = 0; i < model->members.count; i++) {
        next_element(w, i);
        put_text(w, model->members.at[i].process->program);
    }
    end_array(w, "},\n");
}

/* --- Functions and places ---------------------------------------------------------------------- */

static void put_modules(struct writer *w)
{
    const struct report_model *model = w->model;

    fputs("\"modules\":{", w->to);
    begin_array(w, "name");
    for (size_t i = 0; i < model->modules.count; i++) {
        next_element(w, i);
        put_text(w, report_text(model, model->modules.at[i].name));
    }
    end_array(w, ",");
    begin_array(w, "path");
    for (size_t i = 0; i < model->modules.count; i++) {
        next_element(w, i);
        put_text(w, report_text(model, model->modules.at[i].path));
    }
    end_array(w, "},\n");
}

static void put_functions(struct writer *w)
{
    const struct report_model *model = w->model;
    const size_t count = model->functions.count;

    fputs("\"functions\":{", w->to);
    begin_array(w, "name");
    for (size_t i = 0; i < count + HTML_MARKS; i++) {
        next_element(w, i);
        put_text(w, i < count ? report_name(model, (uint32_t)i)
                              : html_mark_text((enum html_mark)(i - count)));
    }
    end_array(w, ",");
    begin_array(w, "module");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, model->functions.at[i].module);
    end_array(w, ",");
    begin_array(w, "known");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, model->functions.at[i].known);
    end_array(w, "},\n");
}

static void put_places(struct writer *w)
{
    const size_t count = w->tree->places.count;
    const struct html_place *all = w->tree->places.at;

    fputs("\"places\":{", w->to);
    begin_array(w, "function");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, all[i].function);
    end_array(w, ",");
    begin_array(w, "file");
    for (size_t i = 0; i < count; i++) {
        next_element(w, i);
        put_text(w, all[i].function < w->model->functions.count ? report_text(w->model, all[i].file)
                                                                : "");
    }
    end_array(w, ",");
    begin_array(w, "line");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, all[i].line);
    end_array(w, ",");
    begin_array(w, "kind");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, (uint64_t)all[i].kind);
    end_array(w, ",");
    begin_array(w, "inlined");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, all[i].inlined);
    end_array(w, "},\n");
}

static void put_nodes(struct writer *w)
{
    const struct html_node *all = w->tree->nodes.at;
    const size_t count = w->tree->nodes.count;

    fputs("\"nodes\":{", w->to);
    begin_array(w, "place");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, all[i].place);
    end_array(w, ",");
    /* Minus the depth of the node before: mostly 1, which packs well. */
    begin_array(w, "deeper");
    for (size_t i = 0; i < count; i++) {
        next_element(w, i);
        fprintf(w->to, "%" PRId64, (int64_t)all[i].depth - (i > 0 ? (int64_t)all[i - 1].depth : 0));
    }
    end_array(w, "},\n");
}

/* --- Figures ----------------------------------------------------------------------------------- */

/* What was never sampled of a process, and of none of its threads. */
struct unsampled {
    uint32_t group;
    uint64_t ns;
};

typedef REPORT_ARRAY(struct unsampled) unsampled_array;

/* @return false: no memory */
static bool find_unsampled(const struct report_model *model, unsampled_array *out)
{
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->processes.count; k++) {
            const uint64_t ns = report_process_unsampled(model, &data->processes.at[k]);
            struct unsampled *u = ns > 0 ? REPORT_NEXT(*out) : NULL;

            if (u)
                *u = (struct unsampled){ model->sources[i].group, ns };
            else if (ns > 0)
                return false;
        }
    }
    return true;
}

/* Rows, then what was never sampled of each thread, then of each process, which is no thread's: -1. */
static void put_rows(struct writer *w, const unsampled_array *processes)
{
    const struct report_model *model = w->model;
    const size_t rows = model->rows.count, members = model->members.count;

    fputs("\"rows\":{", w->to);
    begin_array(w, "thread");
    for (size_t i = 0; i < rows; i++)
        put_number(w, i, model->rows.at[i].member);
    for (size_t i = 0; i < members; i++)
        put_number(w, rows + i, i);
    for (size_t i = 0; i < processes->count; i++) {
        next_element(w, rows + members + i);
        fputs("-1", w->to);
    }
    end_array(w, ",");
    begin_array(w, "group");
    for (size_t i = 0; i < rows; i++)
        put_number(w, i, model->rows.at[i].group);
    for (size_t i = 0; i < members; i++)
        put_number(w, rows + i, model->sources[model->members.at[i].source].group);
    for (size_t i = 0; i < processes->count; i++)
        put_number(w, rows + members + i, processes->at[i].group);
    end_array(w, ",");
    begin_array(w, "node");
    for (size_t i = 0; i < rows; i++)
        put_number(w, i,
                   model->rows.at[i].stack == REPORT_NONE ? w->tree->no_stack
                                                          : w->tree->leaf[model->rows.at[i].stack]);
    for (size_t i = 0; i < members + processes->count; i++)
        put_number(w, rows + i, w->tree->unsampled);
    end_array(w, ",");
    begin_array(w, "values");
    for (size_t type = 0; type < model->type_count; type++) {
        fputs(type > 0 ? ",[" : "[", w->to);
        for (size_t i = 0; i < rows; i++)
            put_number(w, i, model->rows.at[i].values[type]);
        for (size_t i = 0; i < members; i++)
            put_number(w, rows + i,
                       type == model->main ? report_member_unsampled(model, &model->members.at[i])
                                           : 0);
        for (size_t i = 0; i < processes->count; i++)
            put_number(w, rows + members + i, type == model->main ? processes->at[i].ns : 0);
        fputc(']', w->to);
    }
    end_array(w, "},\n");
}

/* A point has its main value, and is one sample: of other values no time is known. */
static void put_time(struct writer *w, const struct html_time *time)
{
    const size_t count = time->moments.count;
    const struct html_moment *all = time->moments.at;

    fprintf(w->to, "\"time\":{\"step\":%" PRIu64 ",\"steps\":%" PRIu32 ",", time->step_ns,
            time->steps);
    begin_array(w, "at"); /* minus the one before */
    for (size_t i = 0; i < count; i++)
        put_number(w, i, i > 0 ? all[i].step - all[i - 1].step : all[i].step);
    end_array(w, ",");
    begin_array(w, "row");
    for (size_t i = 0; i < count; i++)
        put_number(w, i, all[i].row);
    end_array(w, ",");
    begin_array(w, "values");
    for (size_t type = 0; type < w->model->type_count; type++) {
        const bool is_count = strcmp(w->model->types[type].type, "samples") == 0;

        fputs(type > 0 ? "," : "", w->to);
        if (type != w->model->main && !is_count) {
            fputs("null", w->to);
            continue;
        }
        fputc('[', w->to);
        for (size_t i = 0; i < count; i++)
            put_number(w, i, type == w->model->main ? all[i].weight : all[i].count);
        fputc(']', w->to);
    }
    end_array(w, "},\n");
}

static void put_strings(struct writer *w)
{
    begin_array(w, "strings");
    for (size_t i = 0; i < w->strings.all.count; i++) {
        if (i > 0)
            fputs(",\n", w->to);
        report_json_text(w->to, w->strings.all.at[i]);
    }
    end_array(w, "");
}

bool html_data_write(FILE *to, const struct report_model *model, const struct html_tree *tree,
                     const struct html_time *time)
{
    struct writer w = { .to = to, .model = model, .tree = tree };
    unsampled_array processes = { .count = 0 };

    w.failed = !find_unsampled(model, &processes);
    fprintf(to, "{\"format\":1,\n\"groups\":%d,\n", compares(model) ? 2 : 1);
    put_summary(&w);
    put_types(&w);
    put_threads(&w);
    put_modules(&w);
    put_functions(&w);
    put_places(&w);
    put_nodes(&w);
    put_rows(&w, &processes);
    put_time(&w, time);
    put_strings(&w);
    fputs("}\n", to);
    report_strings_free(&w.strings);
    free(processes.at);
    return !w.failed;
}
