#include "profiler/report/formats/main_module.h"

#include <stdlib.h>
#include <string.h>

/* The last of several, if the file was replaced meanwhile. */
static uint32_t module_at(const struct report_model *model, const char *path)
{
    for (size_t i = model->modules.count; i-- > 0;)
        if (strcmp(report_text(model, model->modules.at[i].path), path) == 0)
            return (uint32_t)i;
    return REPORT_NONE;
}

static uint32_t heaviest(const struct report_model *model, const uint64_t *of_member,
                         uint64_t *of_module)
{
    uint32_t best = REPORT_NONE;

    for (size_t i = 0; i < model->members.count; i++) {
        const uint32_t module = of_member[i] > 0
                                    ? module_at(model, model->members.at[i].process->program)
                                    : REPORT_NONE;

        if (module == REPORT_NONE)
            continue;
        of_module[module] += of_member[i];
        if (best == REPORT_NONE || of_module[module] > of_module[best])
            best = module;
    }
    return best;
}

uint32_t report_main_module(const struct report_model *model)
{
    uint64_t *of_member = calloc(model->members.count + 1, sizeof *of_member);
    uint64_t *of_module = calloc(model->modules.count + 1, sizeof *of_module);
    uint32_t best = REPORT_NONE;

    for (size_t i = 0; of_member && i < model->rows.count; i++)
        of_member[model->rows.at[i].member] += report_weight(model, &model->rows.at[i]);
    if (of_member && of_module)
        best = heaviest(model, of_member, of_module);
    free(of_member);
    free(of_module);
    return best;
}
