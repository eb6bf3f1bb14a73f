#include "profiler/report/formats/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/parts.h"
#include "util/foreign.h"

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

static bool add(struct lines *lines, const struct report_model *model,
                const struct report_part *part, uint64_t weight)
{
    struct line *line = REPORT_NEXT(lines->all);
    size_t size;
    FILE *to = line ? open_memstream(&line->text, &size) : NULL;
    bool good;

    if (!to)
        return false;
    line->weight = weight;
    good = put_name(to, report_part_thread(part));
    if (part->mark)
        fprintf(to, ";%s", part->mark);
    else
        good = good && put_stack(to, model, part->stack);
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
        fprintf(to, "%s %" PRIu64 "\n", lines->all.at[i].text, weight);
    }
}

/* @param type  of the model's values */
static bool write_type(FILE *to, const struct report_model *model, size_t type)
{
    struct report_parts parts = report_parts_of(model);
    struct lines lines = { .all = { .count = 0 } };
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part))
        if (part.values[type] > 0)
            good = add(&lines, model, &part, part.values[type]);
    if (good && lines.all.count > 0) {
        qsort(lines.all.at, lines.all.count, sizeof *lines.all.at, compare);
        write_lines(to, &lines);
    }
    for (size_t i = 0; i < lines.all.count; i++)
        free(lines.all.at[i].text);
    free(lines.all.at);
    return good;
}

/* How many: the first value of each pair. Of a heap, the value that was chosen. */
bool report_folded_write(FILE *to, const struct report_model *model)
{
    return write_type(to, model, model->heap ? model->main : model->main - model->main % 2);
}

bool report_folded_ns_write(FILE *to, const struct report_model *model)
{
    return write_type(to, model, model->main);
}
