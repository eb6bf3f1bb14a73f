#include "profiler/report/page/html_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/formats/types.h"
#include "profiler/report/model/parts.h"
#include "profiler/report/page/html_code.h"
#include "profiler/report/page/html_list.h"
#include "profiler/report/page/html_marks.h"
#include "profiler/report/page/html_rows.h"
#include "profiler/report/page/html_wakers.h"
#include "profiler/report/text/start.h"
#include "profiler/report/text/summary.h"

/* Recordings whose machines are named. */
enum { ABOUT_MAX = 64 };

struct writer {
    FILE *to;
    const struct report_model *model;
    const struct html_tree *tree;
    struct report_strings strings; /* of the page: only what is used */
    bool failed;                   /* no memory */
};

/* --- Texts ------------------------------------------------------------------------------------ */

static void put_text(struct writer *w, const char *text)
{
    uint32_t number = 0;

    w->failed |= !report_strings_add(&w->strings, text, &number);
    fprintf(w->to, "%" PRIu32, number);
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

    if (!to || !report_summary_write(to, w->model, REPORT_DETAIL_CALM))
        w->failed = true;
    if (!to || fclose(to) != 0) {
        w->failed = true;
        free(text);
        return;
    }
    html_list_begin(w->to, "summary");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        html_list_next(w->to, i++);
        put_escaped(w->to, line);
    }
    html_list_end(w->to, ",\n");
    free(text);
}

/* What a page that is read elsewhere needs: where and by what it was recorded and made, and which zone its times are of. */
static void put_about(struct writer *w)
{
    const time_t now = time(NULL);
    char zone[16] = "";
    struct tm tm;

    if (localtime_r(&now, &tm))
        strftime(zone, sizeof zone, "%z", &tm);
    fprintf(w->to, "\"about\":{\"sfb\":\"%s\",\"zone\":\"%s\",", SFB_VERSION, zone);
    html_list_begin(w->to, "recorded");
    for (size_t i = 0; i < w->model->source_count && i < ABOUT_MAX; i++) {
        const struct sfb_recording_start *start = &w->model->sources[i].data->start;

        html_list_next(w->to, i);
        fputs("{\"host\":", w->to);
        report_json_text(w->to, start->host ? start->host : "");
        fputs(",\"by\":", w->to);
        report_json_text(w->to, start->version ? start->version : "");
        fputc('}', w->to);
    }
    html_list_end(w->to, "},\n");
}

static void put_types(struct writer *w)
{
    html_list_begin(w->to, "types");
    for (size_t i = 0; i < report_known_types(w->model); i++) {
        html_list_next(w->to, i);
        fputs("{\"type\":", w->to);
        report_json_text(w->to, w->model->types[i].type);
        fputs(",\"unit\":", w->to);
        report_json_text(w->to, w->model->types[i].unit);
        fputc('}', w->to);
    }
    html_list_end(w->to, ",\n");
    fprintf(w->to, "\"main\":%zu,\n", w->model->main);
}

/* A list of one object's: `"tid":[...]`. */
struct column {
    const char *name;
    void (*put)(struct writer *w, size_t i);
    size_t count; /* of elements */
};

static void put_columns(struct writer *w, const char *name, const struct column *columns,
                        size_t count)
{
    fprintf(w->to, "\"%s\":{", name);
    for (size_t c = 0; c < count; c++) {
        html_list_begin(w->to, columns[c].name);
        for (size_t i = 0; i < columns[c].count; i++) {
            html_list_next(w->to, i);
            columns[c].put(w, i);
        }
        html_list_end(w->to, c + 1 < count ? "," : "},\n");
    }
}

#define PUT_COLUMNS(w, name, columns)                                                              \
    put_columns(w, name, columns, sizeof(columns) / sizeof *(columns))

static void put_count(struct writer *w, uint64_t number)
{
    fprintf(w->to, "%" PRIu64, number);
}

static const struct report_member *member_of(const struct writer *w, size_t i)
{
    return &w->model->members.at[i];
}

static void put_thread_name(struct writer *w, size_t i)
{
    put_text(w, member_of(w, i)->thread->name);
}

static void put_thread_tid(struct writer *w, size_t i)
{
    put_count(w, member_of(w, i)->thread->tid);
}

static void put_thread_group(struct writer *w, size_t i)
{
    put_count(w, w->model->sources[member_of(w, i)->source].group);
}

static void put_thread_pid(struct writer *w, size_t i)
{
    put_count(w, member_of(w, i)->process->pid);
}

static void put_thread_program(struct writer *w, size_t i)
{
    put_text(w, member_of(w, i)->process->program);
}

/* Escaped, as the first lines are: a command line is text to read. */
static void put_thread_command(struct writer *w, size_t i)
{
    const struct report_process *process = member_of(w, i)->process;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (to)
        report_command_write(to, process->arguments, process->arguments_size);
    if (!to || fclose(to) != 0)
        w->failed = true;
    put_text(w, text ? text : "");
    free(text);
}

static void put_threads(struct writer *w)
{
    const size_t count = w->model->members.count;
    const struct column columns[] = {
        { "name", put_thread_name, count },       { "tid", put_thread_tid, count },
        { "group", put_thread_group, count },     { "pid", put_thread_pid, count },
        { "program", put_thread_program, count }, { "command", put_thread_command, count }
    };

    PUT_COLUMNS(w, "threads", columns);
}

/* --- Functions and places ---------------------------------------------------------------------- */

static void put_module_name(struct writer *w, size_t i)
{
    put_text(w, report_text(w->model, w->model->modules.at[i].name));
}

static void put_module_path(struct writer *w, size_t i)
{
    put_text(w, report_text(w->model, w->model->modules.at[i].path));
}

static void put_function_name(struct writer *w, size_t i)
{
    const size_t count = w->model->functions.count;

    put_text(w, i < count ? report_name(w->model, (uint32_t)i)
                          : html_mark_text((enum html_mark)(i - count)));
}

static void put_function_module(struct writer *w, size_t i)
{
    put_count(w, w->model->functions.at[i].module);
}

static void put_function_known(struct writer *w, size_t i)
{
    put_count(w, w->model->functions.at[i].known);
}

/* Writes the modules and the functions. Names of marks follow the names of functions. */
static void put_functions(struct writer *w)
{
    const size_t count = w->model->functions.count, modules = w->model->modules.count;
    const struct column of_modules[] = { { "name", put_module_name, modules },
                                         { "path", put_module_path, modules } };
    const struct column columns[] = { { "name", put_function_name, count + HTML_MARKS },
                                      { "module", put_function_module, count },
                                      { "known", put_function_known, count } };

    PUT_COLUMNS(w, "modules", of_modules);
    PUT_COLUMNS(w, "functions", columns);
}

static void put_place_function(struct writer *w, size_t i)
{
    put_count(w, w->tree->places.at[i].function);
}

static void put_place_file(struct writer *w, size_t i)
{
    const struct html_place *place = &w->tree->places.at[i];

    put_text(w,
             place->function < w->model->functions.count ? report_text(w->model, place->file) : "");
}

static void put_place_line(struct writer *w, size_t i)
{
    put_count(w, w->tree->places.at[i].line);
}

static void put_place_kind(struct writer *w, size_t i)
{
    put_count(w, (uint64_t)w->tree->places.at[i].kind);
}

static void put_place_inlined(struct writer *w, size_t i)
{
    put_count(w, w->tree->places.at[i].inlined);
}

static void put_node_place(struct writer *w, size_t i)
{
    put_count(w, w->tree->nodes.at[i].place);
}

/* Minus the depth of the node before: mostly 1, which packs well. */
static void put_node_deeper(struct writer *w, size_t i)
{
    const struct html_node *all = w->tree->nodes.at;

    fprintf(w->to, "%" PRId64, (int64_t)all[i].depth - (i > 0 ? (int64_t)all[i - 1].depth : 0));
}

static void put_tree(struct writer *w)
{
    const size_t places = w->tree->places.count, nodes = w->tree->nodes.count;
    const struct column of_places[] = { { "function", put_place_function, places },
                                        { "file", put_place_file, places },
                                        { "line", put_place_line, places },
                                        { "kind", put_place_kind, places },
                                        { "inlined", put_place_inlined, places } };
    const struct column of_nodes[] = { { "place", put_node_place, nodes },
                                       { "deeper", put_node_deeper, nodes } };

    PUT_COLUMNS(w, "places", of_places);
    PUT_COLUMNS(w, "nodes", of_nodes);
}

static void put_strings(struct writer *w)
{
    html_list_begin(w->to, "strings");
    for (size_t i = 0; i < w->strings.all.count; i++) {
        if (i > 0)
            fputs(",\n", w->to);
        report_json_text(w->to, w->strings.all.at[i]);
    }
    html_list_end(w->to, "");
}

bool html_data_write(FILE *to, const struct report_model *model, const struct html_tree *tree,
                     const struct html_time *time)
{
    struct writer w = { .to = to, .model = model, .tree = tree };

    fprintf(to, "{\"format\":1,\n\"groups\":%d,\n", report_model_compares(model) ? 2 : 1);
    put_summary(&w);
    put_about(&w);
    put_types(&w);
    put_threads(&w);
    put_functions(&w);
    put_tree(&w);
    w.failed |= !html_rows_write(to, model, tree);
    html_rows_write_time(to, model, time);
    w.failed |= !html_marks_write(to, model);
    w.failed |= !html_wakers_write(to, model, &w.strings);
    /* Two builds of a program have two codes of a function. */
    if (!report_model_compares(model))
        w.failed |= !html_code_write(to, model, &w.strings);
    put_strings(&w);
    fputs("}\n", to);
    report_strings_free(&w.strings);
    return !w.failed;
}
