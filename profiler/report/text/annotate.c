#include "profiler/report/text/annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/assembly.h"
#include "profiler/report/text/name.h"
#include "profiler/report/text/source_lines.h"
#include "profiler/report/text/tally.h"
#include "util/counted.h"

enum { AROUND = 6 }; /* instructions that are shown before and behind one that has figures */

struct annotating {
    FILE *to;
    const struct report_model *model;
    const struct report_style *style;
    struct report_columns columns;
    struct report_place_weights weights;
    struct report_source_lines lines;
};

/* The code of functions that have a wanted one, inlined or not. @return how many */
static size_t find_codes(const struct report_model *model, const bool *wanted, bool *out)
{
    size_t count = 0;

    for (uint32_t i = 0; i < model->locations.count; i++) {
        const struct report_location *l = &model->locations.at[i];
        const uint32_t code = report_code_function(model, i);
        bool is_wanted = false;

        for (uint32_t k = 0; k < l->count; k++)
            is_wanted |= wanted[model->lines.at[l->at + k].function];
        if (!is_wanted || code == REPORT_NONE || out[code])
            continue;
        out[code] = true;
        count++;
    }
    return count;
}

/* @return the one with the largest self that is left; REPORT_NONE */
static uint32_t hottest(const struct annotating *a, const bool *codes)
{
    uint32_t best = REPORT_NONE;

    for (uint32_t i = 0; i < a->model->functions.count; i++)
        if (codes[i] &&
            (best == REPORT_NONE || a->weights.of_code[i].value > a->weights.of_code[best].value))
            best = i;
    return best;
}

static bool has_figures(const struct report_instruction *i)
{
    return i->self.value > 0 || i->total.value > 0;
}

/* Whether an instruction, or one that is near, has figures. */
static bool is_shown(const struct report_assembly *assembly, size_t at)
{
    const size_t count = assembly->instructions.count;
    const size_t first = at > AROUND ? at - AROUND : 0;

    for (size_t i = first; i < count && i <= at + AROUND; i++)
        if (has_figures(&assembly->instructions.at[i]))
            return true;
    return false;
}

static void put_source(struct annotating *a, const char *path, uint32_t line)
{
    const char *base = strrchr(path, '/');
    const unsigned room = report_columns_room(&a->columns);
    size_t size = 0;
    const char *text = report_source_line(&a->lines, a->model, path, line, &size);
    char place[64];
    const int width = snprintf(place, sizeof place, "%.40s:%" PRIu32, base ? base + 1 : path, line);

    fprintf(a->to, "%*s", (int)a->columns.before, "");
    report_colour(a->to, a->style, REPORT_DIM);
    report_name_put(a->to, a->style, place, room);
    if (text) {
        fputs("  ", a->to);
        report_line_put(a->to, a->style, text, size,
                        room == 0                     ? 0
                        : room > (unsigned)width + 10 ? room - (unsigned)width - 2
                                                      : 8);
    }
    report_colour(a->to, a->style, REPORT_PLAIN);
    fputc('\n', a->to);
}

static void put_instruction(const struct annotating *a, const struct report_assembly *assembly,
                            const struct report_instruction *i)
{
    const unsigned room = report_columns_room(&a->columns);
    char text[256];

    if (has_figures(i))
        report_columns_put(a->to, &a->columns, &i->self, &i->total);
    else
        fprintf(a->to, "%*s", (int)a->columns.before, "");
    snprintf(text, sizeof text, "%8" PRIx64 ":  %s", i->offset, assembly->strings.all.at[i->text]);
    report_line_put(a->to, a->style, text, strlen(text), room);
    fputc('\n', a->to);
}

static void put_assembly(struct annotating *a, const struct report_assembly *assembly)
{
    uint32_t file = REPORT_NONE, line = 0;
    bool skipped = false;

    for (size_t k = 0; k < assembly->instructions.count; k++) {
        const struct report_instruction *i = &assembly->instructions.at[k];

        if (!is_shown(assembly, k)) {
            skipped = true;
            continue;
        }
        if (skipped)
            fprintf(a->to, "%*s     ...\n", (int)a->columns.before, "");
        if (i->line > 0 && (i->file != file || i->line != line || skipped))
            put_source(a, assembly->strings.all.at[i->file], i->line);
        skipped = false;
        file = i->file;
        line = i->line;
        put_instruction(a, assembly, i);
    }
    if (skipped)
        fprintf(a->to, "%*s     ...\n", (int)a->columns.before, "");
}

/* What the instructions do not show is no loss: other views have it. */
static void put_elsewhere(const struct annotating *a, const struct report_assembly *assembly)
{
    if (assembly->elsewhere.value == 0)
        return;
    report_columns_put(a->to, &a->columns, &assembly->elsewhere, &assembly->elsewhere);
    fputs("[not shown: another copy of the function, or code behind the last instruction here]\n",
          a->to);
}

/* @return false: no memory */
static bool put_function(struct annotating *a, uint32_t function)
{
    const struct report_function *f = &a->model->functions.at[function];
    struct report_assembly assembly;
    const enum report_assembly_end end =
        report_assembly_make(&assembly, a->model, &a->weights, function);

    report_name_put_in(a->to, a->style, report_text(a->model, f->name),
                       report_text(a->model, a->model->modules.at[f->module].name),
                       a->style->width);
    fputc('\n', a->to);
    if (end == REPORT_ASSEMBLY_DONE) {
        report_columns_head(a->to, &a->columns, "  offset");
        put_assembly(a, &assembly);
        put_elsewhere(a, &assembly);
    } else {
        fprintf(a->to, "  %s\n", report_assembly_str(end));
    }
    fputc('\n', a->to);
    report_assembly_free(&assembly);
    return end != REPORT_ASSEMBLY_NO_MEMORY;
}

bool report_annotate_write(FILE *to, const struct report_model *model,
                           const struct report_style *style, const bool *wanted, size_t functions)
{
    struct report_style plain = *style;
    struct annotating a = { .to = to, .model = model, .style = style };
    bool *codes = calloc(model->functions.count + 1, sizeof *codes);
    bool good = codes && report_place_weights_make(&a.weights, model);
    size_t count = good ? find_codes(model, wanted, codes) : 0;

    plain.bars = false;
    report_columns_make(&a.columns, &plain, model, report_all(model).value, true);
    for (size_t i = 0; good && count > 0 && i < functions; i++, count--) {
        const uint32_t function = hottest(&a, codes);

        codes[function] = false;
        good = put_function(&a, function);
    }
    if (good && count > 0)
        fprintf(to, "%s this\n", counted(count, "more functions have").text);
    report_source_lines_free(&a.lines);
    report_place_weights_free(&a.weights);
    free(codes);
    return good;
}
