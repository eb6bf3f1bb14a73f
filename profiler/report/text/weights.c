#include "profiler/report/text/weights.h"

#include <stdlib.h>

bool report_weights_make(struct report_weights *out, const struct report_model *model)
{
    const size_t last = model->stacks.count;

    out->count = last + 1;
    out->at = calloc(out->count, sizeof *out->at);
    if (!out->at)
        return false;
    for (size_t i = 0; i < last; i++)
        out->at[i].stack = (uint32_t)i;
    out->at[last].stack = REPORT_NONE;
    for (size_t i = 0; i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        const struct report_amount own = report_amount_of(model, row);

        report_amount_add(&out->at[row->stack == REPORT_NONE ? last : row->stack].of[row->group],
                          &own);
    }
    return true;
}

void report_weights_free(struct report_weights *weights)
{
    free(weights->at);
    weights->at = NULL;
}
