#include "profiler/report/formats/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/frames.h"
#include "profiler/report/model/parts.h"
#include "util/foreign.h"
#include "util/index.h"

enum { EVENTS = 2 };

/* A line of a function: what it cost itself, or a call from it. */
struct cost {
    uint32_t from, line; /* a function of the file */
    uint32_t to;         /* the function called; REPORT_NONE: its own cost */
    uint64_t values[EVENTS];
};

/* Functions of the file are numbers: twice the model's, + 1 within their recursion; then "[all]". */
struct calls {
    const struct report_model *model;
    uint32_t all;              /* the number of "[all]" */
    struct report_index lines; /* by function and line */
    struct report_index index; /* by that and the function called */
    REPORT_ARRAY(struct cost) costs;
    struct report_frames frames;
    uint64_t *seen; /* of each function: the number of the last sample that it is in */
    uint64_t sample;
    uint64_t totals[EVENTS];
    char *named, *objects, *files; /* of each function, and of each string: it was written */
};

static bool add(struct calls *c, uint32_t from, uint32_t line, uint32_t to, const uint64_t *values)
{
    const uint32_t next = (uint32_t)c->costs.count;
    uint32_t at, place;
    struct cost *cost;
    bool found;

    if (!report_index_find(&c->lines, from, line, (uint32_t)c->lines.count, &place, &found) ||
        !report_index_find(&c->index, place, to, next, &at, &found))
        return false;
    cost = found ? &c->costs.at[at] : REPORT_NEXT(c->costs);
    if (!cost)
        return false;
    if (!found)
        *cost = (struct cost){ .from = from, .line = line, .to = to };
    for (size_t i = 0; i < EVENTS; i++)
        cost->values[i] = report_saturated(cost->values[i], values[i]);
    return true;
}

static uint32_t line_of(const struct calls *c, const struct report_frame *frame)
{
    return frame->line < c->model->lines.count ? c->model->lines.at[frame->line].line : 0;
}

/* Whether a function is in this sample for the first time, from outside. */
static bool is_first(struct calls *c, uint32_t function)
{
    const bool first = c->seen[function] != c->sample;

    c->seen[function] = c->sample;
    return first;
}

/* From outside in: each function is entered once, and so is its recursion. */
static bool add_stack(struct calls *c, const uint64_t *values)
{
    uint32_t caller = c->all, line = 0;
    bool good = true;

    c->sample++;
    for (size_t i = c->frames.all.count; good && i-- > 0;) {
        const struct report_frame *frame = &c->frames.all.at[i];
        const uint32_t outer = 2 * frame->function;
        const bool entered = is_first(c, outer);
        const uint32_t function = entered ? outer : outer + 1;

        if (entered || is_first(c, function))
            good = add(c, caller, line, function, values);
        caller = function;
        line = line_of(c, frame);
    }
    return good && add(c, caller, line, REPORT_NONE, values);
}

static bool add_all(struct calls *c)
{
    struct report_parts parts = report_parts_of(c->model);
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part)) {
        const uint64_t values[EVENTS] = { part.values[c->model->main],
                                          part.values[c->model->main ^ 1] };

        good = (part.mark ? report_frames_take_mark(&c->frames, c->model, REPORT_FRAME_UNSAMPLED)
                          : report_frames_take(&c->frames, c->model, part.stack)) &&
               add_stack(c, values);
        for (size_t i = 0; i < EVENTS; i++)
            c->totals[i] = report_saturated(c->totals[i], values[i]);
    }
    return good;
}

/* --- The file ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if ((x->to == REPORT_NONE) != (y->to == REPORT_NONE))
        return x->to == REPORT_NONE ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* "fn=(7) name", and later "fn=(7)". */
static void put_name(struct calls *c, FILE *to, const char *key, uint32_t function)
{
    fprintf(to, "%s=(%" PRIu32 ")", key, function + 1);
    if (!c->named[function]) {
        putc(' ', to);
        foreign_print(to, function == c->all ? "[all]" : report_frame_name(c->model, function / 2));
        if (function != c->all && function % 2 != 0)
            fputs("'2", to);
    }
    c->named[function] = 1;
    putc('\n', to);
}

/* The same of a file or a module. */
static void put_text(const struct calls *c, FILE *to, const char *key, uint32_t string,
                     char *written)
{
    const char *text = string < c->model->strings.all.count ? report_text(c->model, string) : "";

    fprintf(to, "%s=(%" PRIu32 ")", key, string + 1);
    if (!written[string]) {
        putc(' ', to);
        foreign_print(to, text[0] ? text : "???");
    }
    written[string] = 1;
    putc('\n', to);
}

static void put_place(struct calls *c, FILE *to, const char *object, const char *file,
                      uint32_t function)
{
    const struct report_model *model = c->model;
    const struct report_function *f =
        function / 2 < model->functions.count ? &model->functions.at[function / 2] : NULL;

    const uint32_t none = (uint32_t)model->strings.all.count;

    put_text(c, to, object, f ? model->modules.at[f->module].path : none, c->objects);
    put_text(c, to, file, f ? f->file : none, c->files);
}

static void put_cost(struct calls *c, FILE *to, const struct cost *cost)
{
    if (cost->to != REPORT_NONE) {
        put_place(c, to, "cob", "cfi", cost->to);
        put_name(c, to, "cfn", cost->to);
        /* How often is not known: once for each sample. */
        fprintf(to, "calls=%" PRIu64 " 0\n", cost->values[1] > 0 ? cost->values[1] : 1);
    }
    fprintf(to, "%" PRIu32, cost->line);
    for (size_t i = 0; i < EVENTS; i++)
        fprintf(to, " %" PRIu64, cost->values[i]);
    putc('\n', to);
}

static void put_header(const struct calls *c, FILE *to)
{
    const struct report_model *model = c->model;
    const struct report_value_type *main = &model->types[model->main],
                                   *other = &model->types[model->main ^ 1];
    const char *command = model->source_count > 0 ? model->sources[0].data->start.command : NULL;

    fputs("# callgrind format\nversion: 1\ncreator: sframe-backtrace\ncmd: ", to);
    foreign_print(to, command ? command : "");
    fprintf(to, "\npositions: line\nevent: %s : %s (%s)\nevent: %s : %s\nevents: %s %s\n",
            main->type, main->type, main->unit, other->type, other->type, main->type, other->type);
    fprintf(to, "summary: %" PRIu64 " %" PRIu64 "\n", c->totals[0], c->totals[1]);
}

static void put_all(struct calls *c, FILE *to)
{
    put_header(c, to);
    if (c->costs.count > 0)
        qsort(c->costs.at, c->costs.count, sizeof *c->costs.at, compare);
    for (size_t i = 0; i < c->costs.count; i++) {
        const uint32_t function = c->costs.at[i].from;

        if (i == 0 || function != c->costs.at[i - 1].from) {
            putc('\n', to);
            put_place(c, to, "ob", "fl", function);
            put_name(c, to, "fn", function);
        }
        put_cost(c, to, &c->costs.at[i]);
    }
}

bool report_callgrind_write(FILE *to, const struct report_model *model)
{
    const size_t functions = 2 * (model->functions.count + REPORT_FRAME_MARKS) + 1;
    const size_t strings = model->strings.all.count + 1;
    struct calls c = { .model = model,
                       .all = (uint32_t)functions - 1,
                       .seen = calloc(functions, sizeof *c.seen),
                       .named = calloc(functions, sizeof *c.named),
                       .objects = calloc(strings, sizeof *c.objects),
                       .files = calloc(strings, sizeof *c.files) };
    const bool good =
        c.seen && c.named && c.objects && c.files && functions < UINT32_MAX && add_all(&c);

    if (good)
        put_all(&c, to);
    report_index_free(&c.lines);
    report_index_free(&c.index);
    free(c.costs.at);
    free(c.frames.all.at);
    free(c.seen);
    free(c.named);
    free(c.objects);
    free(c.files);
    return good;
}
