#include "profiler/report/text/stack_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "util/base_name.h"

/* Frames that are shown at the inner and at the outer end. */
enum { INNER = 20, OUTER = 8 };

/* "  file.c:12", the last part of the path; without a file "  (module)". */
static void describe_place(char *out, size_t size, const struct report_model *model,
                           const struct report_step *step)
{
    const struct report_line *line = step->line;
    const char *file = line ? report_text(model, line->file) : "";
    const char *module =
        line
            ? report_text(model, model->modules.at[model->functions.at[line->function].module].name)
            : "";

    if (!file[0] && module[0])
        snprintf(out, size, "(%s)", module);
    else if (file[0] && line->line > 0)
        snprintf(out, size, "%s:%" PRIu32, sfb_base_name(file), line->line);
    else
        snprintf(out, size, "%s", sfb_base_name(file));
}

static void put_step(FILE *to, const struct report_model *model, const struct report_style *style,
                     const char *indent, const struct report_step *step, size_t times)
{
    char place[128], repeated[32] = "";
    unsigned room = 0;

    describe_place(place, sizeof place, model, step);
    if (times > 1)
        snprintf(repeated, sizeof repeated, " x %zu", times);
    if (style->width > 0) {
        const unsigned used =
            2 + (unsigned)strlen(indent) + report_name_width(place) + (unsigned)strlen(repeated);

        room = style->width > used + 12 ? style->width - used : 12;
    }
    fputs(indent, to);
    report_name_put(to, style, step->line ? report_name(model, step->line->function) : step->mark,
                    room);
    fputs(repeated, to);
    if (place[0]) {
        report_colour(to, style, REPORT_DIM);
        fputs("  ", to);
        report_name_put(to, style, place, style->width > 16 ? style->width - 16 : 0);
        report_colour(to, style, REPORT_PLAIN);
    }
    fputc('\n', to);
}

/* Whether two steps are of one function: a recursion is shown as one line. */
static bool is_same(const struct report_step *a, const struct report_step *b)
{
    return a->line && b->line && a->line->function == b->line->function;
}

/* @param skipped  how many lines are left out behind INNER; 0: none. @return lines, had all been written */
static size_t put_steps(FILE *to, const struct report_model *model,
                        const struct report_style *style, const char *indent, uint32_t stack,
                        size_t skipped)
{
    struct report_steps steps = report_steps_of(model, stack);
    struct report_step now, next;
    size_t lines = 0;

    for (bool more = report_steps_next(&steps, &now); more; now = next) {
        size_t times = 1;

        while ((more = report_steps_next(&steps, &next)) && is_same(&now, &next))
            times++;
        if (to && (lines < INNER || lines >= INNER + skipped))
            put_step(to, model, style, indent, &now, times);
        if (to && skipped > 0 && lines == INNER)
            fprintf(to, "%s[%zu more]\n", indent, skipped);
        lines++;
    }
    return lines;
}

/* "  [folded: operator new and 2 more]": what is left out at the inner end. */
static void put_folded(FILE *to, const struct report_model *model, const struct report_style *style,
                       const char *indent, uint32_t stack)
{
    const uint32_t folded = report_folded(model, stack);
    struct report_steps steps = report_steps_whole(model, stack);
    struct report_step innermost;

    if (folded == 0 || !report_steps_next(&steps, &innermost))
        return;
    report_colour(to, style, REPORT_DIM);
    fprintf(to, "%s[folded: ", indent);
    report_name_put(to, style, report_name(model, innermost.line->function),
                    style->width > 40 ? style->width - 28 : 0);
    if (folded > 1)
        fprintf(to, " and %" PRIu32 " more", folded - 1);
    fputs("]\n", to);
    report_colour(to, style, REPORT_PLAIN);
}

void report_stack_put(FILE *to, const struct report_model *model, const struct report_style *style,
                      uint32_t stack, const char *indent)
{
    const size_t lines = put_steps(NULL, model, style, indent, stack, 0);

    put_folded(to, model, style, indent, stack);
    put_steps(to, model, style, indent, stack,
              lines > INNER + OUTER + 1 ? lines - INNER - OUTER : 0);
}
