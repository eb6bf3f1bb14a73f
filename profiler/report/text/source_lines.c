#include "profiler/report/text/source_lines.h"

#include <stdlib.h>
#include <string.h>

/* @return false: no memory */
static bool find_starts(struct report_source_lines *l)
{
    uint32_t count = 1;

    for (size_t i = 0; i < l->size; i++)
        count += l->bytes[i] == '\n';
    l->starts = calloc((size_t)count + 1, sizeof *l->starts);
    if (!l->starts)
        return false;
    for (size_t i = 0; i < l->size; i++)
        if (l->bytes[i] == '\n')
            l->starts[++l->count] = i + 1;
    l->starts[++l->count] = l->size + 1; /* as if a newline ended it */
    return true;
}

static void open_file(struct report_source_lines *l, const struct report_model *model,
                      const char *path)
{
    uint64_t recorded = 0;
    bool changed = false;

    report_source_lines_free(l);
    l->path = strdup(path);
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].data->start.realtime > recorded)
            recorded = model->sources[i].data->start.realtime;
    l->bytes = l->path && path[0] && model->texts && model->texts->read
                   ? model->texts->read(model->texts->user, path, recorded, &l->size, &changed)
                   : NULL;
    /* Lines of a file that has changed are other lines now. */
    if (l->bytes && (changed || !find_starts(l)))
        l->count = 0;
}

const char *report_source_line(struct report_source_lines *l, const struct report_model *model,
                               const char *path, uint32_t line, size_t *size)
{
    if (!l->path || strcmp(l->path, path) != 0)
        open_file(l, model, path);
    if (!l->bytes || line == 0 || line > l->count)
        return NULL;
    *size = l->starts[line] - l->starts[line - 1] - 1;
    return l->bytes + l->starts[line - 1];
}

void report_source_lines_free(struct report_source_lines *l)
{
    free(l->path);
    free(l->bytes);
    free(l->starts);
    *l = (struct report_source_lines){ .path = NULL };
}
