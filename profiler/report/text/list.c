#include "profiler/report/text/list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tally.h"
#include "util/counted.h"
#include "util/index.h"

enum { AROUND = 3 }; /* lines that are shown before and behind one that has figures */

struct figure {
    struct report_amount self, total;
    size_t last; /* stack that was counted last, + 1 */
};

struct cell { /* of one line of a function */
    uint32_t function, file, line;
    struct figure figure;
};

struct function {
    uint32_t function;
    struct figure figure;
};

struct listing {
    FILE *to;
    const struct report_model *model;
    const struct report_style *style;
    const struct report_texts *texts;
    struct report_columns columns;
    REPORT_ARRAY(struct cell) cells;
    struct function *functions; /* of each of the model */
    struct report_index index;  /* of cells: by function, file and line */
    uint64_t all, recorded;     /* the second is a time */
};

/* --- Figures ----------------------------------------------------------------------------------- */

static void count(struct figure *f, size_t stack, bool leaf, const struct report_amount *weight)
{
    if (f->last != stack + 1)
        report_amount_add(&f->total, weight);
    f->last = stack + 1;
    if (leaf)
        report_amount_add(&f->self, weight);
}

/* @return false: no memory */
static bool count_line(struct listing *l, const struct report_line *line, size_t stack, bool leaf,
                       const struct report_amount *weight)
{
    struct cell *cell;
    uint32_t i;
    bool found;

    if (!report_index_find(&l->index, line->function, (uint64_t)line->file << 32 | line->line,
                           (uint32_t)l->cells.count, &i, &found))
        return false;
    if (!found) {
        cell = REPORT_NEXT(l->cells);
        if (!cell)
            return false;
        *cell = (struct cell){ line->function, line->file, line->line, { .last = 0 } };
    }
    count(&l->cells.at[i].figure, stack, leaf, weight);
    count(&l->functions[line->function].figure, stack, leaf, weight);
    return true;
}

static bool count_stacks(struct listing *l, const bool *wanted)
{
    struct report_weights weights;
    bool good = report_weights_make(&weights, l->model);

    for (size_t i = 0; good && i < weights.count; i++) {
        const struct report_amount weight = report_weighed_sum(&weights.at[i]);
        struct report_steps steps = report_steps_of(l->model, weights.at[i].stack);
        struct report_step step;

        for (bool leaf = true; good && weight.value > 0 && report_steps_next(&steps, &step);
             leaf = false)
            if (step.line && wanted[step.line->function])
                good = count_line(l, step.line, i, leaf, &weight);
    }
    report_weights_free(&weights);
    return good;
}

static int compare_functions(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    if (x->figure.total.value != y->figure.total.value)
        return x->figure.total.value < y->figure.total.value ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* --- Text -------------------------------------------------------------------------------------- */

/* A source file, line by line from its beginning. */
struct text {
    char *bytes; /* NULL: it is not here */
    size_t size, at;
    uint32_t line; /* that begins at `at`, from 1 on */
};

/* Goes to a line. @return its size; it is at text->bytes + text->at; SIZE_MAX: past the end */
static size_t find_line(struct text *text, uint32_t line)
{
    while (text->at < text->size) {
        const char *at = text->bytes + text->at, *end = memchr(at, '\n', text->size - text->at);
        const size_t size = end ? (size_t)(end - at) : text->size - text->at;

        if (text->line == line)
            return size;
        text->at += size + 1;
        text->line++;
    }
    return SIZE_MAX;
}

/* @param cell  NULL: the line has no figures */
static void put_line(struct listing *l, struct text *text, uint32_t line, const struct cell *cell)
{
    const size_t size = text->bytes ? find_line(text, line) : SIZE_MAX;
    const unsigned room = report_columns_room(&l->columns);

    if (cell)
        report_columns_put(l->to, &l->columns, &cell->figure.self, &cell->figure.total);
    else
        fprintf(l->to, "%*s", (int)l->columns.before, "");
    if (line == 0)
        fputs("     ?", l->to);
    else
        fprintf(l->to, "%6" PRIu32, line);
    if (size != SIZE_MAX && size > 0) {
        fputs("  ", l->to);
        report_line_put(l->to, l->style, text->bytes + text->at, size,
                        room ? (room > 16 ? room - 8 : 8) : 0);
    }
    fputc('\n', l->to);
}

/* Lines without figures, as far as there are any. @return the one behind them */
static uint32_t put_around(struct listing *l, struct text *text, uint32_t from, uint32_t to)
{
    while (from < to && find_line(text, from) != SIZE_MAX)
        put_line(l, text, from++, NULL);
    return from;
}

/* Cells with the text around them. */
static void put_text(struct listing *l, struct text *text, const struct cell *cells, size_t count)
{
    uint32_t next = 1; /* line that has not been written */

    for (size_t i = 0; i < count; i++) {
        const uint32_t line = cells[i].line,
                       behind = i + 1 < count ? cells[i + 1].line : UINT32_MAX;
        const uint32_t from = line > next + AROUND ? line - AROUND : next;

        if (from > next && next > 1)
            fprintf(l->to, "%*s   ...\n", (int)l->columns.before, "");
        if (line > 0)
            put_around(l, text, from, line);
        put_line(l, text, line, &cells[i]);
        if (line > 0 && line < UINT32_MAX - AROUND - 1)
            next = put_around(l, text, line + 1,
                              behind < line + AROUND + 1 ? behind : line + AROUND + 1);
    }
}

/* Cells of one file. */
static void put_file(struct listing *l, const struct cell *cells, size_t count)
{
    const char *path = report_text(l->model, cells[0].file);
    bool changed = false;
    struct text text = { .line = 1 };

    if (path[0] && l->texts && l->texts->read)
        text.bytes = l->texts->read(l->texts->user, path, l->recorded, &text.size, &changed);
    report_name_put(l->to, l->style, path[0] ? path : "[no file: no debug information]",
                    l->style->width);
    fputs(path[0] && !text.bytes ? "\n  (not here: --symbol-path DIR looks below DIR)\n"
          : changed              ? "\n  (it has changed since it was recorded)\n"
                                 : "\n",
          l->to);
    report_columns_head(l->to, &l->columns, "  line");
    if (text.bytes)
        put_text(l, &text, cells, count);
    for (size_t i = 0; !text.bytes && i < count; i++)
        put_line(l, &text, cells[i].line, &cells[i]);
    free(text.bytes);
}

static void put_function(struct listing *l, const struct function *f)
{
    const struct report_function *function = &l->model->functions.at[f->function];
    size_t first = 0, end;

    while (first < l->cells.count && l->cells.at[first].function != f->function)
        first++;
    report_columns_head(l->to, &l->columns, "function (module)");
    report_columns_put(l->to, &l->columns, &f->figure.self, &f->figure.total);
    report_name_put_in(l->to, l->style, report_text(l->model, function->name),
                       report_text(l->model, l->model->modules.at[function->module].name),
                       report_columns_room(&l->columns));
    fputs("\n\n", l->to);
    for (; first < l->cells.count && l->cells.at[first].function == f->function; first = end) {
        for (end = first + 1; end < l->cells.count && l->cells.at[end].function == f->function &&
                              l->cells.at[end].file == l->cells.at[first].file;
             end++)
            continue;
        put_file(l, &l->cells.at[first], end - first);
        fputc('\n', l->to);
    }
}

static void put_all(struct listing *l, size_t functions)
{
    struct report_style plain = *l->style;
    size_t shown = 0, others = 0;

    plain.bars = false;
    report_columns_make(&l->columns, &plain, l->model, l->all, true);
    qsort(l->functions, l->model->functions.count, sizeof *l->functions, compare_functions);
    if (l->cells.count > 1)
        qsort(l->cells.at, l->cells.count, sizeof *l->cells.at, compare_cells);
    for (size_t i = 0; i < l->model->functions.count && l->functions[i].figure.last > 0; i++) {
        if (shown < functions) {
            put_function(l, &l->functions[i]);
            shown++;
        } else {
            others++;
        }
    }
    if (others > 0)
        fprintf(l->to, "%s this in the name\n", counted(others, "more functions have").text);
}

bool report_list_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       const bool *wanted, size_t functions, const struct report_texts *texts)
{
    struct listing l = { .to = to, .model = model, .style = style, .texts = texts };
    bool good;

    l.all = report_all(model).value;
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].data->start.realtime > l.recorded)
            l.recorded = model->sources[i].data->start.realtime;
    l.functions = calloc(model->functions.count + 1, sizeof *l.functions);
    for (size_t i = 0; l.functions && i < model->functions.count; i++)
        l.functions[i].function = (uint32_t)i;
    good = l.functions && count_stacks(&l, wanted);
    if (good)
        put_all(&l, functions);
    free(l.functions);
    free(l.cells.at);
    report_index_free(&l.index);
    return good;
}
