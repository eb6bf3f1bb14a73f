#include "report/page/html_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_list.h"

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
static void put_rows(FILE *to, const struct report_model *model, const struct html_tree *tree,
                     const unsampled_array *processes)
{
    const size_t rows = model->rows.count, members = model->members.count;

    fputs("\"rows\":{", to);
    html_list_begin(to, "thread");
    for (size_t i = 0; i < rows; i++)
        html_list_number(to, i, model->rows.at[i].member);
    for (size_t i = 0; i < members; i++)
        html_list_number(to, rows + i, i);
    for (size_t i = 0; i < processes->count; i++) {
        html_list_next(to, rows + members + i);
        fputs("-1", to);
    }
    html_list_end(to, ",");
    html_list_begin(to, "group");
    for (size_t i = 0; i < rows; i++)
        html_list_number(to, i, model->rows.at[i].group);
    for (size_t i = 0; i < members; i++)
        html_list_number(to, rows + i, model->sources[model->members.at[i].source].group);
    for (size_t i = 0; i < processes->count; i++)
        html_list_number(to, rows + members + i, processes->at[i].group);
    html_list_end(to, ",");
    html_list_begin(to, "node");
    for (size_t i = 0; i < rows; i++)
        html_list_number(to, i,
                         model->rows.at[i].stack == REPORT_NONE
                             ? tree->no_stack
                             : tree->leaf[model->rows.at[i].stack]);
    for (size_t i = 0; i < members + processes->count; i++)
        html_list_number(to, rows + i, tree->unsampled);
    html_list_end(to, ",");
    html_list_begin(to, "values");
    for (size_t type = 0; type < model->type_count; type++) {
        fputs(type > 0 ? ",[" : "[", to);
        for (size_t i = 0; i < rows; i++)
            html_list_number(to, i, model->rows.at[i].values[type]);
        for (size_t i = 0; i < members; i++)
            html_list_number(
                to, rows + i,
                type == model->main ? report_member_unsampled(model, &model->members.at[i]) : 0);
        for (size_t i = 0; i < processes->count; i++)
            html_list_number(to, rows + members + i, type == model->main ? processes->at[i].ns : 0);
        fputc(']', to);
    }
    html_list_end(to, "},\n");
}

bool html_rows_write(FILE *to, const struct report_model *model, const struct html_tree *tree)
{
    unsampled_array processes = { .count = 0 };
    const bool good = find_unsampled(model, &processes);

    put_rows(to, model, tree, &processes);
    free(processes.at);
    return good;
}

void html_rows_write_time(FILE *to, const struct report_model *model, const struct html_time *time)
{
    const size_t count = time->moments.count;
    const struct html_moment *all = time->moments.at;

    fprintf(to, "\"time\":{\"step\":%" PRIu64 ",\"steps\":%" PRIu32 ",", time->step_ns,
            time->steps);
    html_list_begin(to, "at"); /* minus the one before */
    for (size_t i = 0; i < count; i++)
        html_list_number(to, i, i > 0 ? all[i].step - all[i - 1].step : all[i].step);
    html_list_end(to, ",");
    html_list_begin(to, "row");
    for (size_t i = 0; i < count; i++)
        html_list_number(to, i, all[i].row);
    html_list_end(to, ",");
    html_list_begin(to, "values");
    for (size_t type = 0; type < model->type_count; type++) {
        const bool is_count = strcmp(model->types[type].type, "samples") == 0;

        fputs(type > 0 ? "," : "", to);
        if (type != model->main && !is_count) {
            fputs("null", to);
            continue;
        }
        fputc('[', to);
        for (size_t i = 0; i < count; i++)
            html_list_number(to, i, type == model->main ? all[i].weight : all[i].count);
        fputc(']', to);
    }
    html_list_end(to, "},\n");
}
