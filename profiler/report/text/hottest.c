#include "profiler/report/text/hottest.h"

#include <stdlib.h>

#include "profiler/report/text/columns.h"
#include "profiler/report/text/stack_show.h"
#include "profiler/report/text/tally.h"
#include "util/index.h"

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

bool report_hottest_write(FILE *to, const struct report_model *model,
                          const struct report_style *style)
{
    const uint64_t all = report_all(model).value;
    const struct report_unit *unit = report_unit_of(style, report_quantity_of(model), all);
    struct chain hottest = { .heaviest = 0 };
    struct report_weights weights;
    bool good = report_weights_make(&weights, model) && find_hottest(model, &weights, &hottest);

    report_weights_free(&weights);
    if (!good)
        return false;
    if (hottest.weight.value == 0)
        return true;
    report_colour(to, style, REPORT_BOLD);
    if (model->heap) {
        fprintf(to, "heaviest stack, %s: ", report_value_name(model));
        report_amount_put(to, &hottest.weight, report_quantity_of(model));
    } else {
        fprintf(to, "hottest stack: %.*f %s", unit->decimals,
                report_in_unit(unit, hottest.weight.value), unit->name);
    }
    fprintf(to, ", %.2f %%, innermost first", report_share(hottest.weight.value, all));
    report_colour(to, style, REPORT_PLAIN);
    fputc('\n', to);
    report_stack_put(to, model, style, hottest.stack, "  ");
    return true;
}
