#include "profiler/report/model/suppressions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Patterns ---------------------------------------------------------------------------------- */

/* The part of a pattern up to its next `*` or `$`. */
static size_t literal_size(const char *pattern)
{
    return strcspn(pattern, "*$");
}

/* compiler-rt's TemplateMatch(), oddities included: of an empty name nothing is found, and behind `$` nothing is looked at. */
bool report_suppression_is_in(const char *pattern, const char *text)
{
    bool at_start = pattern[0] == '^', any = false;

    if (text[0] == '\0')
        return false;
    pattern += at_start;
    while (*pattern) {
        const size_t size = literal_size(pattern);
        const char *found;

        if (*pattern == '*') {
            pattern++;
            at_start = false;
            any = true;
            continue;
        }
        if (*pattern == '$')
            return *text == '\0' || any;
        if (*text == '\0')
            return false;
        found = memmem(text, strlen(text), pattern, size);
        if (!found || (at_start && found != text))
            return false;
        text = found + size;
        pattern += size;
        at_start = any = false;
    }
    return true;
}

/* --- Files ------------------------------------------------------------------------------------- */

static bool add(struct report_suppressions *out, const char *pattern, size_t size, size_t line)
{
    struct report_suppression *s = REPORT_NEXT(out->all);

    if (!s)
        return false;
    s->line = line;
    s->pattern = strndup(pattern, size);
    return s->pattern != NULL;
}

bool report_suppressions_read(struct report_suppressions *out, const char *text, size_t *line)
{
    static const char kind[] = "leak:";

    *out = (struct report_suppressions){ .all = { .count = 0 } };
    for (*line = 1; *text; ++*line) {
        const char *from = text + strspn(text, " \t"), *end = text + strcspn(text, "\n");

        text = *end ? end + 1 : end;
        while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
            end--;
        if (from >= end || *from == '#')
            continue;
        if (strncmp(from, kind, sizeof kind - 1) != 0)
            return false;
        from += sizeof kind - 1;
        if (!add(out, from, (size_t)(end - from), *line)) {
            *line = 0;
            return false;
        }
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

    if (report_suppression_is_in(s->pattern, report_text(model, module->path)) ||
        report_suppression_is_in(s->pattern, report_text(model, step->line->file)))
        return true;
    return f->known && (report_suppression_is_in(s->pattern, report_text(model, f->name)) ||
                        report_suppression_is_in(s->pattern, report_text(model, f->system_name)));
}

bool report_suppressions_read_file(struct report_suppressions *out, const char *path, size_t *line)
{
    char *text = NULL;
    size_t room = 0;
    bool good;
    FILE *from;

    *line = 0;
    errno = 0;
    from = fopen(path, "re");
    if (!from)
        return false;
    good = (getdelim(&text, &room, '\0', from) >= 0 || feof(from)) &&
           report_suppressions_read(out, text && room > 0 ? text : "", line);
    free(text);
    fclose(from);
    if (!good && errno == 0)
        errno = ENOMEM;
    return good;
}

struct report_suppression *report_suppressions_find(struct report_suppressions *suppressions,
                                                    const struct report_model *model,
                                                    uint32_t stack)
{
    struct report_steps steps = report_steps_of(model, stack);
    struct report_step step;

    while (report_steps_next(&steps, &step))
        for (size_t i = 0; step.line && i < suppressions->all.count; i++)
            if (is_of(&suppressions->all.at[i], model, &step))
                return &suppressions->all.at[i];
    return NULL;
}
