#include "report/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"

struct line {
    char *text; /* without its weight */
    uint64_t weight;
};

struct lines {
    REPORT_ARRAY(struct line) all;
};

/* A frame's name: `;` parts frames, and behind the last blank stands the weight. */
static bool put_name(FILE *to, const char *name)
{
    char *text = foreign_copy(name, FOREIGN_NAME);

    if (!text)
        return false;
    for (char *c = strchr(text, ';'); c; c = strchr(c, ';'))
        *c = ':';
    fputs(text, to);
    free(text);
    return true;
}

/* Outermost first: the other way round than a stack is. */
static bool put_stack(FILE *to, const struct report_model *model, uint32_t stack)
{
    struct report_steps steps = report_steps_of(model, stack);
    REPORT_ARRAY(const char *) names = { .count = 0 };
    struct report_step step;
    bool good = true;

    while (good && report_steps_next(&steps, &step)) {
        const char **name = REPORT_NEXT(names);

        if (name)
            *name = step.line ? report_name(model, step.line->function) : step.mark;
        good = name != NULL;
    }
    for (size_t i = names.count; good && i-- > 0;) {
        fputc(';', to);
        good = put_name(to, names.at[i]);
    }
    free(names.at);
    return good;
}

/*
 * @param stack  index, or REPORT_NONE; not used with what
 * @param what   instead of a stack
 */
static bool add(struct lines *lines, const struct report_model *model, const char *thread,
                uint32_t stack, const char *what, uint64_t weight)
{
    struct line *line = REPORT_NEXT(lines->all);
    size_t size;
    FILE *to = line ? open_memstream(&line->text, &size) : NULL;
    bool good;

    if (!to)
        return false;
    line->weight = weight;
    good = put_name(to, thread);
    if (what)
        fprintf(to, ";%s", what);
    else
        good = good && put_stack(to, model, stack);
    return fclose(to) == 0 && good;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void write_lines(FILE *to, const struct lines *lines)
{
    for (size_t i = 0, next; i < lines->all.count; i = next) {
        uint64_t weight = 0;

        for (next = i;
             next < lines->all.count && compare(&lines->all.at[i], &lines->all.at[next]) == 0;
             next++)
            weight += lines->all.at[next].weight;
        if (weight > 0)
            fprintf(to, "%s %" PRIu64 "\n", lines->all.at[i].text, weight);
    }
}

static bool collect(struct lines *lines, const struct report_model *model)
{
    static const char unsampled[] = "[unsampled]";
    bool good = true;

    for (size_t i = 0; good && i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];

        good = add(lines, model, model->members.at[row->member].thread->name, row->stack, NULL,
                   report_weight(model, row));
    }
    for (size_t i = 0; good && i < model->members.count; i++)
        good = add(lines, model, model->members.at[i].thread->name, REPORT_NONE, unsampled,
                   report_member_unsampled(model, &model->members.at[i]));
    for (size_t i = 0; good && i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; good && k < data->processes.count; k++)
            good = add(lines, model, "[no thread]", REPORT_NONE, unsampled,
                       report_process_unsampled(model, &data->processes.at[k]));
    }
    return good;
}

bool report_folded_write(FILE *to, const struct report_model *model)
{
    struct lines lines = { .all = { .count = 0 } };
    const bool good = collect(&lines, model);

    if (good && lines.all.count > 0) {
        qsort(lines.all.at, lines.all.count, sizeof *lines.all.at, compare);
        write_lines(to, &lines);
    }
    for (size_t i = 0; i < lines.all.count; i++)
        free(lines.all.at[i].text);
    free(lines.all.at);
    return good;
}
