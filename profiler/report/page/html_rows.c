#include "profiler/report/page/html_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/types.h"
#include "profiler/report/page/html_heap.h"
#include "profiler/report/page/html_list.h"

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
    uint64_t before;

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
    before = 0;
    html_list_begin(to, "node");
    for (size_t i = 0; i < rows; i++)
        html_list_further(to, i,
                          model->rows.at[i].stack == REPORT_NONE
                              ? tree->no_stack
                              : tree->leaf[model->rows.at[i].stack],
                          &before);
    for (size_t i = 0; i < members + processes->count; i++)
        html_list_further(to, rows + i, tree->unsampled, &before);
    html_list_end(to, ",");
    html_list_begin(to, "values");
    for (size_t type = 0; type < report_known_types(model); type++) {
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

/* Which of a moment's numbers a value is. */
enum known { KNOWN_NOT, KNOWN_COUNT, KNOWN_WEIGHT, KNOWN_BLOCKS, KNOWN_BYTES };

static enum known known_by_time(const struct report_model *model, const struct html_time *time,
                                size_t type)
{
    if (model->heap) {
        if (time->moments.count == 0)
            return KNOWN_NOT; /* sums have no events */
        switch ((enum report_heap_type)type) {
        case REPORT_ALLOC_OBJECTS: return KNOWN_COUNT;
        case REPORT_ALLOC_SPACE: return KNOWN_WEIGHT;
        case REPORT_INUSE_OBJECTS: return KNOWN_BLOCKS;
        case REPORT_INUSE_SPACE: return KNOWN_BYTES;
        case REPORT_PEAK_OBJECTS:
        case REPORT_PEAK_SPACE:
        case REPORT_TEMPORARY_OBJECTS:
        case REPORT_TEMPORARY_SPACE: break;
        }
        return KNOWN_NOT;
    }
    if (type == model->main)
        return KNOWN_WEIGHT;
    return strcmp(model->types[type].type, "samples") == 0 ? KNOWN_COUNT : KNOWN_NOT;
}

static void put_known(FILE *to, const struct html_moment *m, size_t i, enum known known)
{
    if (known == KNOWN_COUNT || known == KNOWN_WEIGHT) {
        html_list_number(to, i, known == KNOWN_COUNT ? m->count : m->weight);
        return;
    }
    html_list_next(to, i);
    fprintf(to, "%" PRId64, known == KNOWN_BLOCKS ? m->blocks : m->bytes);
}

void html_rows_write_time(FILE *to, const struct report_model *model, const struct html_time *time)
{
    const size_t count = time->moments.count;
    const struct html_moment *all = time->moments.at;
    uint64_t before = 0;

    fprintf(to, "\"time\":{\"step\":%" PRIu64 ",\"steps\":%" PRIu32 ",", time->step_ns,
            time->steps);
    html_list_begin(to, "at"); /* minus the one before */
    for (size_t i = 0; i < count; i++)
        html_list_number(to, i, i > 0 ? all[i].step - all[i - 1].step : all[i].step);
    html_list_end(to, ",");
    html_list_begin(to, "row"); /* likewise */
    for (size_t i = 0; i < count; i++)
        html_list_further(to, i, all[i].row, &before);
    html_list_end(to, ",");
    html_list_begin(to, "values");
    for (size_t type = 0; type < report_known_types(model); type++) {
        const enum known known = known_by_time(model, time, type);

        fputs(type > 0 ? "," : "", to);
        if (known == KNOWN_NOT) {
            fputs("null", to);
            continue;
        }
        fputc('[', to);
        for (size_t i = 0; i < count; i++)
            put_known(to, &all[i], i, known);
        fputc(']', to);
    }
    if (!model->heap) {
        html_list_end(to, "},\n");
        return;
    }
    html_list_end(to, ",");
    fprintf(to, "\"changes\":[%d,%d],", REPORT_INUSE_OBJECTS, REPORT_INUSE_SPACE);
    html_heap_time_write(to, time);
    fputs("},\n", to);
}
