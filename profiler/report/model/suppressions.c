#include "profiler/report/model/suppressions.h"

#include <errno.h>
#include <stdlib.h>

#include "profiler/report/model/pattern.h"

/* --- Files ------------------------------------------------------------------------------------- */

bool report_suppressions_read(struct report_suppressions *out, const char *text, size_t *line)
{
    struct report_pattern_lines lines = { .text = text };
    struct report_pattern_line next;

    *out = (struct report_suppressions){ .all = { .count = 0 } };
    while (report_pattern_next(&lines, &next)) {
        char *pattern = report_pattern_of(&next, "leak:");
        struct report_suppression *s = pattern ? REPORT_NEXT(out->all) : NULL;

        if (!s) {
            *line = !pattern && errno == 0 ? lines.line : 0;
            free(pattern);
            return false;
        }
        s->pattern = pattern;
        s->line = lines.line;
    }
    return true;
}

void report_suppressions_forget(struct report_suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->all.count; i++) {
        struct report_suppression *s = &suppressions->all.at[i];

        s->stacks = 0;
        s->blocks = s->bytes = report_exactly(0);
    }
}

void report_suppressions_free(struct report_suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->all.count; i++)
        free(suppressions->all.at[i].pattern);
    free(suppressions->all.at);
    *suppressions = (struct report_suppressions){ .all = { .count = 0 } };
}

/* --- Stacks ------------------------------------------------------------------------------------ */

static bool is_of(const struct report_suppression *s, const struct report_model *model,
                  const struct report_step *step)
{
    const struct report_location *location = &model->locations.at[step->location];
    const struct report_function *f = &model->functions.at[step->line->function];
    const struct report_module *module = &model->modules.at[location->module];

    if (report_pattern_is_in(s->pattern, report_text(model, module->path)) ||
        report_pattern_is_in(s->pattern, report_text(model, step->line->file)))
        return true;
    return f->known && (report_pattern_is_in(s->pattern, report_text(model, f->name)) ||
                        report_pattern_is_in(s->pattern, report_text(model, f->system_name)));
}

bool report_suppressions_read_file(struct report_suppressions *out, const char *path, size_t *line)
{
    char *text = report_pattern_file(path);
    const bool good = text && report_suppressions_read(out, text, line);

    if (!text)
        *line = 0;
    free(text);
    return good;
}

struct report_suppression *report_suppressions_find(struct report_suppressions *suppressions,
                                                    const struct report_model *model,
                                                    uint32_t stack)
{
    struct report_steps steps = report_steps_whole(model, stack);
    struct report_step step;

    while (report_steps_next(&steps, &step))
        for (size_t i = 0; step.line && i < suppressions->all.count; i++)
            if (is_of(&suppressions->all.at[i], model, &step))
                return &suppressions->all.at[i];
    return NULL;
}
