#include "profiler/report/page/html_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/page/html_list.h"
#include "profiler/report/text/assembly.h"
#include "profiler/report/text/columns.h"
#include "profiler/report/text/source_lines.h"
#include "profiler/report/text/tally.h"

/* Functions, those with less self than so much are left out; instructions of one; source lines of one file, around figures. */
enum {
    FUNCTIONS_MAX = 12,
    INSTRUCTIONS_MAX = 1500,
    NEAR = 16, /* instructions before and behind one with figures, where not all can be there */
    LINES_MAX = 400,
    AROUND = 3,
    LINE_SIZE_MAX = 300
};
#define SHARE_MIN 0.5

struct code_writer {
    FILE *to;
    const struct report_model *model;
    struct report_strings *strings;
    struct report_place_weights weights;
    struct report_source_lines lines;
    bool failed; /* no memory */
};

static uint32_t number_of(struct code_writer *w, const char *text)
{
    uint32_t number = 0;

    w->failed |= !report_strings_add(w->strings, text, &number);
    return number;
}

/* @return the hottest function that was not written yet and has enough; REPORT_NONE */
static uint32_t hottest(const struct code_writer *w, const bool *written)
{
    const uint64_t all = report_all(w->model).value;
    uint32_t best = REPORT_NONE;

    for (uint32_t i = 0; i < w->model->functions.count; i++)
        if (!written[i] &&
            (best == REPORT_NONE || w->weights.of_code[i].value > w->weights.of_code[best].value))
            best = i;
    if (best != REPORT_NONE && (w->weights.of_code[best].value == 0 ||
                                report_share(w->weights.of_code[best].value, all) < SHARE_MIN))
        return REPORT_NONE;
    return best;
}

/* --- Instructions ------------------------------------------------------------------------------ */

enum column { OFFSETS, TEXTS, FILES, LINES, SELVES, TOTALS, COLUMNS };

static uint64_t cell(struct code_writer *w, const struct report_assembly *a, enum column column,
                     const struct report_instruction *i)
{
    switch (column) {
    case OFFSETS: return i->offset;
    case TEXTS: return number_of(w, a->strings.all.at[i->text]);
    case FILES: return number_of(w, a->strings.all.at[i->file]);
    case LINES: return i->line;
    case SELVES: return i->self.value;
    case TOTALS: return i->total.value;
    case COLUMNS: break;
    }
    return 0;
}

static bool has_figures(const struct report_instruction *i)
{
    return i->self.value > 0 || i->total.value > 0;
}

/* Instructions that are not farther than `near` from one with figures. @return how many */
static size_t choose_near(const struct report_assembly *a, size_t near, bool *chosen)
{
    const size_t all = a->instructions.count;
    size_t count = 0, next = 0;

    memset(chosen, 0, all * sizeof *chosen);
    for (size_t i = 0; i < all; i++) {
        if (!has_figures(&a->instructions.at[i]))
            continue;
        for (next = next > i - (i < near ? i : near) ? next : i - (i < near ? i : near);
             next < all && next <= i + near; next++) {
            chosen[next] = true;
            count++;
        }
    }
    return count;
}

/* All instructions; of a large function those near figures; of one with too many of them, the first ones. */
static void choose(const struct report_assembly *a, bool *chosen)
{
    const size_t all = a->instructions.count;
    size_t kept = 0;

    if (all <= INSTRUCTIONS_MAX) {
        memset(chosen, true, all * sizeof *chosen);
        return;
    }
    for (size_t near = NEAR; choose_near(a, near, chosen) > INSTRUCTIONS_MAX && near > 0;)
        near /= 4;
    for (size_t i = 0; i < all; i++)
        chosen[i] = chosen[i] && kept++ < INSTRUCTIONS_MAX;
}

/* "gaps" are elements before which instructions were left out; the page computes their sum. */
static void put_instructions(struct code_writer *w, const struct report_assembly *a)
{
    static const char *const names[] = { "offset", "text", "file", "line", "self", "total" };
    const size_t count = a->instructions.count;
    bool *chosen = malloc(count + 1);
    size_t kept, gaps = 0;

    w->failed |= !chosen;
    if (!chosen)
        return;
    choose(a, chosen);
    for (enum column c = OFFSETS; c < COLUMNS; c++) {
        html_list_begin(w->to, names[c]);
        kept = 0;
        for (size_t i = 0; i < count; i++)
            if (chosen[i])
                html_list_number(w->to, kept++, cell(w, a, c, &a->instructions.at[i]));
        html_list_end(w->to, ",");
    }
    html_list_begin(w->to, "gaps");
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] && i > 0 && !chosen[i - 1])
            html_list_number(w->to, gaps++, kept);
        kept += chosen[i];
    }
    html_list_end(w->to, ",");
    free(chosen);
}

/* --- Source lines ------------------------------------------------------------------------------ */

struct wanted_line {
    uint32_t file, line; /* file: of the assembly */
};

static int compare_lines(const void *a, const void *b)
{
    const struct wanted_line *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Lines of instructions, with those around lines that have figures; sorted, each once. @return how many */
static size_t want_lines(const struct report_assembly *a, bool only_figures,
                         struct wanted_line *out)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < a->instructions.count; i++) {
        const struct report_instruction *n = &a->instructions.at[i];
        const uint32_t around = n->total.value > 0 ? AROUND : 0;

        if (n->line == 0 || (only_figures && !has_figures(n)))
            continue;
        for (uint32_t line = n->line > around ? n->line - around : 1; line <= n->line + around;
             line++)
            out[count++] = (struct wanted_line){ n->file, line };
    }
    if (count > 1)
        qsort(out, count, sizeof *out, compare_lines);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_lines(&out[kept - 1], &out[i]) != 0)
            out[kept++] = out[i];
    return kept;
}

static uint32_t text_of(struct code_writer *w, const char *path, uint32_t line, bool *found)
{
    size_t size = 0;
    const char *text = report_source_line(&w->lines, w->model, path, line, &size);
    char copy[LINE_SIZE_MAX + 1];

    *found = text != NULL;
    if (!text)
        return 0;
    while (size > 0 && text[size - 1] == '\r')
        size--;
    size = size < LINE_SIZE_MAX ? size : LINE_SIZE_MAX;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return number_of(w, copy);
}

/* `"sources":{"file":[...],"line":[...],"text":[...]}` */
static void put_sources(struct code_writer *w, const struct report_assembly *a)
{
    struct wanted_line *wanted =
        calloc((2 * AROUND + 1) * a->instructions.count + 1, sizeof *wanted);
    size_t count = wanted ? want_lines(a, false, wanted) : 0, kept = 0;
    uint32_t *texts;

    if (count > LINES_MAX)
        count = want_lines(a, true, wanted);
    texts = calloc(count + 1, sizeof *texts);

    w->failed |= !wanted || !texts;
    for (size_t i = 0; texts && i < count && kept < LINES_MAX; i++) {
        bool found;
        const uint32_t text = text_of(w, a->strings.all.at[wanted[i].file], wanted[i].line, &found);

        if (!found)
            continue;
        texts[kept] = text;
        wanted[kept++] = wanted[i];
    }
    fputs("\"sources\":{", w->to);
    html_list_begin(w->to, "file");
    for (size_t i = 0; i < kept; i++)
        html_list_number(w->to, i, number_of(w, a->strings.all.at[wanted[i].file]));
    html_list_end(w->to, ",");
    html_list_begin(w->to, "line");
    for (size_t i = 0; i < kept; i++)
        html_list_number(w->to, i, wanted[i].line);
    html_list_end(w->to, ",");
    html_list_begin(w->to, "text");
    for (size_t i = 0; i < kept; i++)
        html_list_number(w->to, i, texts[i]);
    html_list_end(w->to, "}");
    free(wanted);
    free(texts);
}

bool html_code_write(FILE *to, const struct report_model *model, struct report_strings *strings)
{
    struct code_writer w = { .to = to, .model = model, .strings = strings };
    bool *written = calloc(model->functions.count + 1, sizeof *written);
    size_t count = 0;

    w.failed = !written || !report_place_weights_make(&w.weights, model);
    html_list_begin(to, "code");
    for (size_t i = 0; !w.failed && i < FUNCTIONS_MAX; i++) {
        const uint32_t function = hottest(&w, written);
        struct report_assembly assembly;
        enum report_assembly_end end;

        if (function == REPORT_NONE)
            break;
        written[function] = true;
        end = report_assembly_make(&assembly, model, &w.weights, function);
        w.failed |= end == REPORT_ASSEMBLY_NO_MEMORY;
        if (end == REPORT_ASSEMBLY_DONE) {
            html_list_next(to, count++);
            fprintf(to, "{\"function\":%" PRIu32 ",\"weight\":%" PRIu64 ",\"path\":%" PRIu32 ",",
                    function, w.weights.of_code[function].value,
                    number_of(&w, report_text(model, model->functions.at[function].file)));
            put_instructions(&w, &assembly);
            put_sources(&w, &assembly);
            fputs("}\n", to);
        }
        report_assembly_free(&assembly);
    }
    html_list_end(to, ",\n");
    report_source_lines_free(&w.lines);
    report_place_weights_free(&w.weights);
    free(written);
    return !w.failed;
}
