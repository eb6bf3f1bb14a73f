#include "report/text/hottest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/index.h"
#include "report/text/columns.h"
#include "report/text/name.h"
#include "report/text/tally.h"

/* Frames that are shown at the inner and at the outer end. */
enum { INNER = 20, OUTER = 8 };

/* Stacks of the same functions. */
struct chain {
    struct report_amount weight;
    uint64_t heaviest;
    uint32_t stack; /* the heaviest */
};

/* By two hashes of its functions. */
static bool find(const struct report_model *model, struct report_index *index, uint32_t stack,
                 uint32_t next, uint32_t *out, bool *found)
{
    struct report_steps steps = report_steps_of(model, stack);
    struct report_step step;
    uint64_t a = 1, b = 0x9ae16a3b2f90404fU;

    while (report_steps_next(&steps, &step)) {
        const uint64_t own = step.line ? step.line->function : UINT64_MAX - (uint8_t)step.mark[1];

        a = (a ^ own) * 0x9e3779b97f4a7c15U;
        b = (b ^ own) * 0xbf58476d1ce4e5b9U;
        a ^= a >> 29;
        b ^= b >> 31;
    }
    return report_index_find(index, a, b, next, out, found);
}

/* @return false: no memory */
static bool find_hottest(const struct report_model *model, const struct report_weights *weights,
                         struct chain *out)
{
    REPORT_ARRAY(struct chain) chains = { .count = 0 };
    struct report_index index = { .count = 0 };
    bool good = true, found;

    for (size_t i = 0; good && i < weights->count; i++) {
        const struct report_amount weight = report_weighed_sum(&weights->at[i]);
        struct chain *chain;
        uint32_t number;

        if (weights->at[i].stack == REPORT_NONE || weight.value == 0)
            continue;
        good = find(model, &index, weights->at[i].stack, (uint32_t)chains.count, &number, &found);
        chain = !good ? NULL : found ? &chains.at[number] : REPORT_NEXT(chains);
        if (!chain) {
            good = false;
            break;
        }
        report_amount_add(&chain->weight, &weight);
        if (!found || weight.value > chain->heaviest) {
            chain->heaviest = weight.value;
            chain->stack = weights->at[i].stack;
        }
        if (chain->weight.value > out->weight.value)
            *out = *chain;
    }
    free(chains.at);
    report_index_free(&index);
    return good;
}

/* "  file.c:12", the last part of a path. */
static void describe_place(char *out, size_t size, const struct report_model *model,
                           const struct report_line *line)
{
    const char *file = line ? report_text(model, line->file) : "", *slash = strrchr(file, '/');

    out[0] = '\0';
    if (file[0] && line->line > 0)
        snprintf(out, size, "%s:%" PRIu32, slash ? slash + 1 : file, line->line);
    else
        snprintf(out, size, "%s", slash ? slash + 1 : file);
}

static void put_step(FILE *to, const struct report_model *model, const struct report_style *style,
                     const struct report_step *step, size_t times)
{
    char place[128], repeated[32] = "";
    unsigned room = 0;

    describe_place(place, sizeof place, model, step->line);
    if (times > 1)
        snprintf(repeated, sizeof repeated, " x %zu", times);
    if (style->width > 0) {
        const unsigned used = 4 + report_name_width(place) + (unsigned)strlen(repeated);

        room = style->width > used + 12 ? style->width - used : 12;
    }
    fputs("  ", to);
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

/* Those of a recursion are one line. */
static bool is_same(const struct report_step *a, const struct report_step *b)
{
    return a->line && b->line && a->line->function == b->line->function;
}

/* @param skipped  how many lines are left out behind INNER; 0: none. @return lines, had all been written */
static size_t put_steps(FILE *to, const struct report_model *model,
                        const struct report_style *style, uint32_t stack, size_t skipped)
{
    struct report_steps steps = report_steps_of(model, stack);
    struct report_step now, next;
    size_t lines = 0;

    for (bool more = report_steps_next(&steps, &now); more; now = next) {
        size_t times = 1;

        while ((more = report_steps_next(&steps, &next)) && is_same(&now, &next))
            times++;
        if (to && (lines < INNER || lines >= INNER + skipped))
            put_step(to, model, style, &now, times);
        if (to && skipped > 0 && lines == INNER)
            fprintf(to, "  [%zu more]\n", skipped);
        lines++;
    }
    return lines;
}

bool report_hottest_write(FILE *to, const struct report_model *model,
                          const struct report_style *style)
{
    const uint64_t all = report_all(model).value;
    const struct report_unit *unit = report_unit_of(style, report_quantity_of(model), all);
    struct chain hottest = { .heaviest = 0 };
    struct report_weights weights;
    size_t lines;
    bool good = report_weights_make(&weights, model) && find_hottest(model, &weights, &hottest);

    report_weights_free(&weights);
    if (!good)
        return false;
    if (hottest.weight.value == 0)
        return true;
    report_colour(to, style, REPORT_BOLD);
    fprintf(to, "hottest stack: %.*f %s, %.2f %%, innermost first", unit->decimals,
            report_in_unit(unit, hottest.weight.value), unit->name,
            report_share(hottest.weight.value, all));
    report_colour(to, style, REPORT_PLAIN);
    fputc('\n', to);
    lines = put_steps(NULL, model, style, hottest.stack, 0);
    put_steps(to, model, style, hottest.stack,
              lines > INNER + OUTER + 1 ? lines - INNER - OUTER : 0);
    return true;
}
