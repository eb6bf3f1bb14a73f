#include "profiler/report/text/nameless.h"

#include <stdlib.h>

#include "profiler/report/text/advice.h"
#include "profiler/report/text/columns.h"
#include "util/counted.h"
#include "util/foreign.h"

enum { MODULES_MAX = 6 };

struct nameless {
    uint32_t module;
    uint64_t self;
};

static int compare_nameless(const void *a, const void *b)
{
    const struct nameless *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return (x->module > y->module) - (x->module < y->module);
}

static void write_module(FILE *to, const struct report_model *model, const struct nameless *n,
                         uint64_t all)
{
    const char *name = report_text(model, model->modules.at[n->module].name);

    foreign_print(to, name[0] ? name : "code in no module");
    fprintf(to, " %.2f %%", report_share(n->self, all));
}

/* @return how many come first that are worth a line of their own: the worst one is if all together are */
static size_t count_shown(const struct nameless *modules, size_t count, uint64_t sum, uint64_t all,
                          enum report_detail detail)
{
    size_t shown = sum > 0 && report_detail_has(detail, sum, all);

    while (shown < count && shown < MODULES_MAX && modules[shown].self > 0 &&
           report_detail_has(detail, modules[shown].self, all))
        shown++;
    return shown;
}

static void write_modules(FILE *to, const struct report_model *model,
                          const struct nameless *modules, uint64_t all, enum report_detail detail)
{
    uint32_t worst[MODULES_MAX];
    uint64_t sum = 0, others = 0;
    size_t count = 0, shown;

    for (; count < model->modules.count && modules[count].self > 0; count++)
        sum = report_saturated(sum, modules[count].self);
    shown = count_shown(modules, count, sum, all, detail);
    for (size_t i = shown; i < count; i++)
        others = report_saturated(others, modules[i].self);
    for (size_t i = 0; i < shown; i++) {
        fputs(i == 0 ? "  without names: " : ", ", to);
        write_module(to, model, &modules[i], all);
        worst[i] = modules[i].module;
    }
    if (shown == 0)
        return;
    if (others > 0)
        fprintf(to, ", %s %.2f %%", counted(count - shown, "more modules").text,
                report_share(others, all));
    fputc('\n', to);
    if (detail == REPORT_DETAIL_CALM)
        report_advice_nameless(to, model, worst, shown);
}

bool report_nameless_write(FILE *to, const struct report_model *model, uint64_t all,
                           enum report_detail detail)
{
    struct nameless *modules = calloc(model->modules.count + 1, sizeof *modules);

    if (!modules)
        return false;
    for (size_t i = 0; i < model->modules.count; i++)
        modules[i].module = (uint32_t)i;
    for (size_t i = 0; i < model->rows.count; i++) {
        struct report_steps steps = report_steps_of(model, model->rows.at[i].stack);
        struct report_step leaf;

        if (!report_steps_next(&steps, &leaf) || !leaf.line)
            continue;
        const struct report_function *f = &model->functions.at[leaf.line->function];

        if (!f->known)
            modules[f->module].self += report_weight(model, &model->rows.at[i]);
    }
    qsort(modules, model->modules.count, sizeof *modules, compare_nameless);
    if (detail == REPORT_DETAIL_ALL || !model->choice.no_names)
        write_modules(to, model, modules, all, detail);
    free(modules);
    return true;
}
